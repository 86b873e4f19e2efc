//! What a drive cost when and where somebody looked.

use block::Price;
use serde::{Deserialize, Serialize};

use super::fields::{Field, Table, required};

/// A price with its date and its source: the table `[price]` of a drive's file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ListPrice {
    /// Amount and currency: `89.90 EUR`.
    pub amount: Price,
    /// The day, month or year: `2024-05-31`, `2024-05`, `2024`; empty where it is not known.
    #[serde(deserialize_with = "date")]
    pub date: String,
    /// Where it was found; empty where somebody gave it for a run.
    pub source: String,
}

impl ListPrice {
    /// The table of a drive's file, for the reference.
    pub const TABLE: Table = Table {
        name: "price",
        about: "What it cost when somebody looked",
        is_required: false,
        fields: &[
            required("amount", "Amount and currency: `\"89.90 EUR\"`", <String as Field>::kind),
            required("date", "The day, month or year: `\"2024-05-31\"`", <String as Field>::kind),
        ],
    };

    /// A price that somebody gave, of whom nothing more is known.
    pub const fn given(amount: Price) -> Self {
        Self { amount, date: String::new(), source: String::new() }
    }

    /// The price in a drive's file; none if it has none.
    pub fn of_file(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Part {
            price: Option<ListPrice>,
        }
        toml::from_str::<Part>(text).ok()?.price
    }
}

/// A drive's file without its price.
pub(super) fn without(text: &str) -> String {
    let mut is_price = false;
    let is_other = |line: &&str| {
        if line.trim_start().starts_with('[') {
            is_price = line.trim() == "[price]";
        }
        !is_price
    };
    text.split_inclusive('\n').filter(is_other).collect()
}

/// A year, a month or a day, as ISO 8601 writes them.
fn date<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parts: Vec<&str> = text.split('-').collect();
    let is_number = |part: &str, length: usize, most: u32| {
        part.len() == length
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| (1..=most).contains(&n))
    };
    let is_date = match parts[..] {
        [year] => is_number(year, 4, 9999),
        [year, month] => is_number(year, 4, 9999) && is_number(month, 2, 12),
        [year, month, day] => is_number(year, 4, 9999) && is_number(month, 2, 12) && is_number(day, 2, 31),
        _ => false,
    };
    match is_date {
        true => Ok(text),
        false => Err(serde::de::Error::custom(format!("`{text}` is no date; write 2024, 2024-05 or 2024-05-31"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    #[test]
    fn a_drives_file_may_have_a_price_with_date_and_source() {
        let text = Preset::find("x25-m").unwrap().text;
        let priced = |table: &str| format!("{text}\n[price]\n{table}");
        let fine = priced("amount = \"89.9EUR\"\ndate = \"2024-05\"\nsource = \"a shop\"\n");
        let preset = Preset::parse(&fine).unwrap();
        let price = ListPrice::of_file(&preset.text).unwrap();
        assert_eq!((price.amount.to_string().as_str(), price.date.as_str()), ("89.90 EUR", "2024-05"));
        assert!(preset.facts().iter().any(|(name, fact)| *name == "price" && fact == "89.90 EUR (2024-05, a shop)"));
        for (table, words) in [
            ("amount = \"89.9\"\ndate = \"2024\"\nsource = \"x\"\n", "89.90EUR"),
            ("amount = \"89.9EUR\"\ndate = \"May\"\nsource = \"x\"\n", "2024-05"),
            ("amount = \"89.9EUR\"\ndate = \"2024\"\n", "source"),
        ] {
            let said = Preset::parse(&priced(table)).unwrap_err().to_string();
            assert!(said.contains(words), "{table}: {said}");
        }
    }

    #[test]
    fn a_drive_whose_size_is_changed_has_no_price() {
        let price =
            |name: &str| ListPrice::of_file(&Preset::find(name).unwrap().text).map(|price| price.amount.to_string());
        let own = price("990-pro").unwrap();
        assert_eq!(price("990-pro?nand.read=60us").as_deref(), Some(&*own));
        assert_eq!(price("990-pro?capacity.user=500GB"), None);
    }
}
