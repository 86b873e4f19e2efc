//! How a drive is asked for: `p5520#2?capacity.spare=12%`.

use super::error::PresetError;
use crate::Specimen;

/// The name by which a drive is asked for, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriveName<'a> {
    /// The drive that comes with the program, or the path of a drive's file.
    pub base: &'a str,
    /// Which drive of that model, counted from one.
    pub specimen: u32,
    /// Changes to its file, joined by `&`; empty if there are none.
    pub changes: &'a str,
}

impl<'a> DriveName<'a> {
    /// Takes `name` apart. What follows the last `#` of a path is part of the path, unless it is a number or the path before
    /// it is that of a file in TOML.
    ///
    /// # Errors
    /// If what follows `#` is not the number of a specimen.
    pub fn read(name: &'a str) -> Result<Self, PresetError> {
        let (whole, changes) = name.split_once('?').unwrap_or((name, ""));
        let Some((base, number)) = whole.rsplit_once('#').filter(|(base, number)| is_numbered(base, number)) else {
            return Ok(Self { base: whole, specimen: 1, changes });
        };
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
        match number.parse() {
            Ok(specimen) if is_plain && specimen <= Specimen::MAX => Ok(Self { base, specimen, changes }),
            _ => Err(PresetError::Specimen { base: base.to_owned(), found: number.to_owned() }),
        }
    }

    /// Whether it is the path of a file.
    pub fn is_of_file(&self) -> bool {
        is_path(self.base)
    }
}

/// Whether it may be the name in a drive's file.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

/// The name of a drive or a target with more changes, of which there is one at least.
pub fn changed_name(name: &str, changes: &str) -> String {
    let joint = if name.contains('?') { '&' } else { '?' };
    format!("{name}{joint}{changes}")
}

fn is_path(base: &str) -> bool {
    base.contains('/') || base.ends_with(".toml")
}

/// Whether `number`, between which and `base` there is a `#`, is meant for the number of a specimen.
fn is_numbered(base: &str, number: &str) -> bool {
    let is_more_path = is_path(number) || is_path(base) && !base.ends_with(".toml");
    !is_more_path || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_base_a_specimen_and_changes() {
        for (name, base, specimen, changes) in [
            ("x25-m", "x25-m", 1, ""),
            ("x25-m#1", "x25-m", 1, ""),
            ("x25-m#2", "x25-m", 2, ""),
            ("x25-m#1000000?spare=12%&nand.read=25us", "x25-m", 1_000_000, "spare=12%&nand.read=25us"),
            ("x25-m?array.drive=x25-e-64#3", "x25-m", 1, "array.drive=x25-e-64#3"),
            ("./mine.toml#7?spare=12%", "./mine.toml", 7, "spare=12%"),
            ("mine.toml#7", "mine.toml", 7, ""),
            ("./a#b/mine.toml", "./a#b/mine.toml", 1, ""),
            ("./mine#2.toml", "./mine#2.toml", 1, ""),
            ("./mine#two", "./mine#two", 1, ""),
            ("./mine#2", "./mine", 2, ""),
        ] {
            assert_eq!(DriveName::read(name).unwrap(), DriveName { base, specimen, changes }, "{name}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_explained() {
        for wrong in
            ["x25-m#0", "x25-m#", "x25-m#two", "x25-m#-1", "x25-m#+1", "x25-m#02", "x25-m#1000001", "x25-m#99999999999"]
        {
            let said = DriveName::read(wrong).unwrap_err().to_string();
            let number = wrong.rsplit('#').next().unwrap();
            assert!(said.contains(&format!("`#{number}` is no specimen of `x25-m`")), "{said}");
            assert!(said.contains("1 to 1000000, such as `x25-m#2`"), "{said}");
        }
        assert!(DriveName::read("./mine.toml#two").is_err());
        assert!(DriveName::read("./mine.toml#two?spare=1%").unwrap_err().to_string().contains("`./mine.toml#2`"));
    }
}
