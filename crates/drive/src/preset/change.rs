//! Changes to a drive's file that are given by name: `capacity.spare=12%&nand.read=25us`.

use block::nearest;
use toml::{Table as Toml, Value};

use super::error::{ALL, PresetError, plain};
use super::fields::Table;

/// The file `text` with `changes` made. Fields of `tables` may be set whether the file has them or not.
pub fn apply(text: &str, changes: &str, tables: &[Table]) -> Result<String, PresetError> {
    let mut file: Toml = toml::from_str(text)?;
    let mut changed = Vec::new();
    for change in changes.split('&') {
        let refuse = |why| PresetError::Change { change: change.to_owned(), why };
        let (table, field, value) = part(change, tables).map_err(refuse)?;
        once((table, field), &mut changed).map_err(refuse)?;
        let entry = file.entry(table).or_insert_with(own_table);
        let entry = entry.as_table_mut().ok_or_else(|| refuse(format!("`{table}` is not a table of the file")))?;
        let value = typed(value, entry.get(field));
        entry.insert(field.to_owned(), value);
    }
    Ok(toml::to_string(&file).expect("what was read from TOML can be written as TOML"))
}

/// That a field is none of those that were `changed`, of which it is one from here on.
pub fn once<'a>(
    (table, field): (&'static str, &'a str),
    changed: &mut Vec<(&'static str, &'a str)>,
) -> Result<(), String> {
    if changed.contains(&(table, field)) {
        return Err(format!("`{table}.{field}` is given twice; give it once"));
    }
    changed.push((table, field));
    Ok(())
}

/// A table that the file lacks, which is the user's own doing.
pub fn own_table() -> Value {
    Value::Table([("source".to_owned(), Value::String("changed by name".to_owned()))].into_iter().collect())
}

/// The error that the drive cannot be made once changed.
pub fn refused(changes: &str, error: &PresetError) -> PresetError {
    let why = match error {
        // Line and column would be those of a file that nobody wrote.
        PresetError::Text(error) => completed(&plain(error.message())),
        other => other.to_string(),
    };
    PresetError::Change { change: changes.to_owned(), why }
}

/// The message of a file that cannot be read; of a table that only the changes made, how to make it whole.
fn completed(message: &str) -> String {
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match missing {
        Some(field) => {
            format!("{message}: a table that the drive does not have needs all its fields; add `&{field}=VALUE`")
        }
        None => message.to_owned(),
    }
}

/// The table, field and value that a change means.
pub fn part<'a>(change: &'a str, tables: &[Table]) -> Result<(&'static str, &'a str, &'a str), String> {
    let parts = change.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = parts.ok_or_else(|| "a change has the form name=value".to_owned())?;
    let (table, field) = resolve(name.trim(), tables)?;
    Ok((table, field, value.trim()))
}

/// A change in words: what it changes, with its table, and to what. What names nothing stays as it is.
pub fn told<'a>(change: &'a str, tables: &[Table], prefix: &str) -> (String, &'a str) {
    match part(change, tables) {
        Ok((table, field, value)) => (format!("{prefix}{table}.{field}"), value),
        Err(_) => {
            let (name, value) = change.split_once('=').unwrap_or((change, ""));
            (format!("{prefix}{}", name.trim()), value.trim())
        }
    }
}

/// The table and field that `name` means.
fn resolve<'a>(name: &'a str, tables: &[Table]) -> Result<(&'static str, &'a str), String> {
    let of = |field: &str| -> Vec<&'static str> {
        tables.iter().filter(|table| table.has(field)).map(|table| table.name).collect()
    };
    match name.split_once('.') {
        Some((table, field)) if of(field).contains(&table) => {
            let table = tables.iter().find(|known| known.name == table).expect("it was just found");
            Ok((table.name, field))
        }
        None if of(name).len() == 1 => Ok((of(name)[0], name)),
        None if of(name).len() > 1 => {
            let paths: Vec<String> = of(name).iter().map(|table| format!("`{table}.{name}`")).collect();
            Err(format!("it may be {}; say which", paths.join(" or ")))
        }
        _ => Err(correction(name, tables)),
    }
}

/// That there is no `name`, and what is most like it.
fn correction(name: &str, tables: &[Table]) -> String {
    let all = || tables.iter().flat_map(|table| table.names().map(|field| (table.name, field)));
    let paths: Vec<String> = all().map(|(table, field)| format!("{table}.{field}")).collect();
    let near = if name.contains('.') {
        nearest(name, paths.iter().map(String::as_str)).map(str::to_owned)
    } else {
        let near = nearest(name, all().map(|(_, field)| field));
        near.and_then(|near| all().find(|(_, field)| *field == near)).map(|(table, field)| format!("{table}.{field}"))
    };
    let table = name.trim_end_matches('.');
    if let Some(known) = tables.iter().find(|known| known.name == table) {
        let fields: Vec<String> = known.names().map(|field| format!("`{table}.{field}`")).collect();
        return format!("`{table}` is a table; say which field of it: {}", fields.join(", "));
    }
    // The same field may be in a table of another name: `nand.read` is `media.read` of phase-change memory.
    let field = name.rsplit('.').next().unwrap_or(name);
    let same: Vec<&str> = all().filter(|(_, known)| *known == field).map(|(table, _)| table).collect();
    let near = near.map(|near| format!("`{near}`")).or_else(|| {
        let paths: Vec<String> = same.iter().take(3).map(|table| format!("`{table}.{field}`")).collect();
        (!paths.is_empty()).then(|| paths.join(" or "))
    });
    match near {
        Some(near) => format!("there is no `{name}`; did you mean {near}?"),
        None => format!("there is no `{name}`; {ALL}"),
    }
}

/// `text` as the file would have it: a list in brackets, or a number or truth value where it is one and no text stood there
/// before.
fn typed(text: &str, before: Option<&Value>) -> Value {
    if matches!(before, Some(Value::String(_))) {
        return Value::String(text.to_owned());
    }
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = list.split(',').map(|item| item.trim().trim_matches('"')).filter(|item| !item.is_empty());
        return Value::Array(items.map(|item| Value::String(item.to_owned())).collect());
    }
    let number = text.parse().map(Value::Integer).or_else(|_| text.parse().map(Value::Boolean));
    number.unwrap_or_else(|_| Value::String(text.to_owned()))
}
