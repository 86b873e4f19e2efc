//! Sums, as fio takes them in place of a number.

/// The deepest nesting of parentheses.
const DEPTH_MAX: usize = 64;

/// The value of an arithmetic expression of numbers that `number` can read, or none.
///
/// Knows `+ - * / % ^` and parentheses; `^` binds closest and to the right. As fio computes, in floating point.
pub(super) fn evaluate(text: &str, number: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = Reader { rest: text, depth: 0, number };
    let value = reader.sum()?;
    (reader.rest.trim().is_empty() && value.is_finite()).then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
    number: &'t dyn Fn(&str) -> Option<f64>,
}

impl Reader<'_> {
    /// Takes the next character if it is one of these.
    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let found = rest.chars().next().filter(|c| wanted.contains(c))?;
        self.rest = &rest[found.len_utf8()..];
        Some(found)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let other = self.product()?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let other = self.power()?;
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Some(value)
    }

    fn power(&mut self) -> Option<f64> {
        self.depth += 1;
        let base = if self.depth > DEPTH_MAX { None } else { self.atom() }?;
        let value = if self.take(&['^']).is_some() { base.powf(self.power()?) } else { base };
        self.depth -= 1;
        Some(value)
    }

    fn atom(&mut self) -> Option<f64> {
        if self.take(&['-']).is_some() {
            return self.power().map(|value| -value);
        }
        if self.take(&['(']).is_some() {
            let value = self.sum()?;
            return self.take(&[')']).map(|_| value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(end);
        self.rest = rest;
        (self.number)(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        evaluate(text, &|digits| digits.parse().ok())
    }

    #[test]
    fn sums_follow_the_usual_order() {
        for (text, wanted) in
            [("1+2*3", 7.0), ("(1+2)*3", 9.0), ("2^3^2", 512.0), ("7%4-1", 2.0), (" 8 / 2 ", 4.0), ("-(2)+3", 1.0)]
        {
            assert_eq!(value(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_sum_has_no_value() {
        for text in ["", "1+", "(1", "1)", "2 3", "1/0", "x", &"(".repeat(100_000), &"-".repeat(100_000)] {
            assert_eq!(value(text), None, "{}", &text[..text.len().min(9)]);
        }
    }
}
