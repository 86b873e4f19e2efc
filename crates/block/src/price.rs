//! What something costs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A price: hundredths of a currency's unit, more than none and up to a thousand million units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Price {
    hundredths: u64,
    /// The three capital letters of ISO 4217.
    currency: [u8; 3],
}

/// A text that is no price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no price; give an amount and a currency of three letters (ISO 4217), such as 89.90EUR")]
pub struct PriceError(String);

/// The most units.
const MOST: u64 = 1_000_000_000;

impl Price {
    /// The amount in units of the currency.
    pub const fn amount(self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    /// The currency: three capital letters of ISO 4217.
    pub fn currency(&self) -> &str {
        std::str::from_utf8(&self.currency).expect("three letters of ASCII")
    }
}

impl FromStr for Price {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        read(text.trim()).ok_or_else(|| PriceError(text.chars().take(40).collect()))
    }
}

/// `89.90EUR`, `89.9 eur`, `EUR 89`.
fn read(text: &str) -> Option<Price> {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let letters: String = text.chars().filter(|c| is_letter(*c)).collect();
    let number = text.strip_suffix(&letters).or_else(|| text.strip_prefix(&letters))?.trim();
    let currency = <[u8; 3]>::try_from(letters.to_ascii_uppercase().as_bytes()).ok()?;
    let (units, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let units: u64 = Some(units).filter(|units| is_digits(units))?.parse().ok()?;
    let part: u64 =
        Some(part).filter(|part| is_digits(part) && part.len() <= 2).map(|part| format!("{part:0<2}"))?.parse().ok()?;
    let hundredths = Some(units).filter(|units| *units < MOST)? * 100 + part;
    (hundredths > 0).then_some(Price { hundredths, currency })
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02} {}", self.hundredths / 100, self.hundredths % 100, self.currency())
    }
}

impl TryFrom<String> for Price {
    type Error = PriceError;

    fn try_from(text: String) -> Result<Self, PriceError> {
        text.parse()
    }
}

impl From<Price> for String {
    fn from(price: Price) -> Self {
        price.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_an_amount_and_a_currency() {
        let table =
            [("89.90EUR", "89.90 EUR"), ("89.9 eur", "89.90 EUR"), ("USD 595", "595.00 USD"), ("0.01jpy", "0.01 JPY")];
        for (text, written) in table {
            let price: Price = text.parse().unwrap();
            assert_eq!((price.to_string().as_str(), written.parse()), (written, Ok(price)), "{text}");
        }
        let wrong = [
            "",
            "89.90",
            "EUR",
            "89.90 €",
            "89,90EUR",
            "89.901EUR",
            "-1EUR",
            "0EUR",
            "1e3EUR",
            "9999999999EUR",
            "EU 9 R",
            "89.EUR",
            ".5EUR",
            "1EURO",
        ];
        for text in wrong {
            assert!(text.parse::<Price>().is_err_and(|error| error.to_string().contains("89.90EUR")), "{text}");
        }
    }
}
