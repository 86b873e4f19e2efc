//! The API of `assay serve` answers as its OpenAPI document says.

use serde_json::Value;

use crate::support::Place;
use crate::support::served::Served;

/// Whether a value is as a schema of the document says: in both directions, so that what the document does not name is not
/// answered, unless it leaves an object open.
fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let schema = resolved(document, schema);
    if let Some(ways) = schema["oneOf"].as_array() {
        let tried: Vec<_> = ways.iter().map(|way| check(document, way, value, at)).collect();
        return match tried.iter().filter(|one| one.is_ok()).count() {
            1 => Ok(()),
            count => Err(format!("{at}: {count} of the schemas fit: {tried:?}")),
        };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        other => return Err(format!("{at}: the schema has the type {other}")),
    };
    let is_kind = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    if !kinds.iter().any(is_kind) {
        return Err(format!("{at}: {value} is no {kinds:?}"));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        return Err(format!("{at}: {value} is none of {words:?}"));
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{at}[{place}]"))?;
    }
    value.as_object().map_or(Ok(()), |fields| check_fields(document, schema, fields, at))
}

fn check_fields(
    document: &Value,
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    at: &str,
) -> Result<(), String> {
    let of_all = schema["allOf"].as_array().into_iter().flatten().map(|part| resolved(document, part));
    let parts: Vec<&Value> = of_all.chain([schema]).collect();
    for name in parts.iter().flat_map(|part| part["required"].as_array().into_iter().flatten()) {
        if !fields.contains_key(name.as_str().unwrap()) {
            return Err(format!("{at}: {name} is missing"));
        }
    }
    for (name, value) in fields {
        match parts.iter().find_map(|part| part["properties"].get(name)) {
            Some(schema) => check(document, schema, value, &format!("{at}.{name}"))?,
            None if schema["additionalProperties"] == true => {}
            None => return Err(format!("{at}: {name} is not described")),
        }
    }
    Ok(())
}

fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(place) => document.pointer(place.strip_prefix('#').unwrap()).expect("a reference leads somewhere"),
        None => schema,
    }
}

/// What an address answers, of which the document is known to say as much; with its status.
fn answered(served: &Served, document: &Value, path: &str, address: &str) -> (u16, Value) {
    let answer = served.get(address);
    assert!(answer.head.contains("application/json"), "{address}: {}", answer.head);
    let value: Value = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{address}: {error}"));
    let responses = &document["paths"][path]["get"]["responses"];
    let response = responses.get(answer.status.to_string()).unwrap_or(&responses["default"]);
    let schema = &response["content"]["application/json"]["schema"];
    check(document, schema, &value, address).unwrap();
    (answer.status, value)
}

fn numbers(list: &Value) -> Vec<i64> {
    list["runs"].as_array().unwrap().iter().map(|run| run["run"].as_i64().unwrap()).collect()
}

#[test]
fn the_api_answers_as_its_document_says() {
    let place = Place::new();
    let plan = place.short_plan();
    for (seed, tag) in [("1", "--tag=before"), ("2", "--tag=after")] {
        let options = ["review", "sim:x25-m", "--plan", &plan, "--seed", seed, "--out", "reports", tag];
        place.succeeds(&[&options[..], &["--price", "89.90EUR", "--note", "a <note>"]].concat());
    }
    place.succeeds(&["run", "sim:x25-m", "--rw=randread", "--number_ios=10"]);
    let served = Served::new(&place, &[]);
    let document: Value = serde_json::from_str(&served.get("/api/openapi.json").body).unwrap();
    let get = |path: &str, address: &str| answered(&served, &document, path, address);

    let (_, all) = get("/api/runs", "/api/runs");
    assert_eq!((numbers(&all), &all["found"]), (vec![3, 2, 1], &Value::from(3)));
    assert_eq!((&all["runs"][2]["price"], &all["runs"][2]["tags"][0]), (&"89.90 EUR".into(), &"before".into()));
    let of_command: Value = serde_json::from_str(&place.succeeds(&["runs", "--format", "json"])).unwrap();
    assert_eq!(of_command["runs"][0], all["runs"][2]);
    let host = all["runs"][0]["host"].as_str().unwrap();
    let host = form(host);
    let cases = [
        ("tag=after".to_owned(), vec![2]),
        ("plan=short&state=complete".to_owned(), vec![2, 1]),
        ("q=x25-m&per_page=2".to_owned(), vec![3, 2]),
        ("per_page=2&page=2".to_owned(), vec![1]),
        ("page=18446744073709551615".to_owned(), vec![]),
        (format!("host={host}"), vec![3, 2, 1]),
        (format!("host={host}x"), vec![]),
        ("serial=1".to_owned(), vec![]),
    ];
    for (query, expected) in cases {
        assert_eq!(numbers(&get("/api/runs", &format!("/api/runs?{query}")).1), expected, "{query}");
    }
    let (_, run) = get("/api/runs/{run}", "/api/runs/1");
    assert_eq!(run, serde_json::from_str::<Value>(&place.succeeds(&["show", "1", "--format", "json"])).unwrap());
    assert_eq!(get("/api/compare", "/api/compare?runs=1,2").1["base"], 1);
    let (_, live) = get("/api/runs/{run}/live", "/api/runs/1/live");
    assert_eq!((&live["state"], &live["goes_on"], &live["curve"]), (&"complete".into(), &false.into(), &Value::Null));
    let (_, drives) = get("/api/drives", "/api/drives?model=nothing");
    assert_eq!(drives["drives"], Value::Array(Vec::new()));
    let (_, drives) = get("/api/drives", "/api/drives");
    assert_eq!((&drives["drives"][0]["target"], &drives["drives"][0]["runs"]), (&"sim:x25-m".into(), &3.into()));
    for name in ["sim:x25-m", "sim:x25-m%231"] {
        let (_, drive) = get("/api/drive", &format!("/api/drive?target={name}"));
        assert_eq!((&drive["plan"], &drive["all_runs"]), (&"short".into(), &3.into()), "the plan of most runs");
        assert_eq!(numbers(&drive), [1, 2], "the oldest first");
        let figure = &drive["runs"][0]["figures"][0];
        assert!(figure["mean"].as_f64().unwrap() > 0.0 && figure["figure"].is_string(), "{figure}");
    }
    for (path, address, status) in [
        ("/api/runs", "/api/runs?page=0", 400),
        ("/api/runs", "/api/runs?per_page=x", 400),
        ("/api/runs", "/api/runs?state=odd", 400),
        ("/api/runs/{run}", "/api/runs/9", 404),
        ("/api/runs/{run}", "/api/runs/one", 400),
        ("/api/compare", "/api/compare?runs=1", 400),
        ("/api/runs", "/api/nothing", 404),
        ("/api/runs/{run}/live", "/api/runs/9/live", 404),
        ("/api/drives", "/api/drives?state=odd", 400),
        ("/api/drive", "/api/drive", 400),
        ("/api/drive", "/api/drive?serial=1&target=2", 400),
        ("/api/drive", "/api/drive?serial=none", 404),
    ] {
        assert_eq!(get(path, address).0, status, "{address}");
    }
    let named: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let pages =
        ["compare", "drive", "drives", "openapi.json", "push", "push/wanted", "runs", "runs/{run}", "runs/{run}/live"];
    assert_eq!(named, pages.map(|name| format!("/api/{name}")).iter().collect::<Vec<_>>());
}

#[test]
fn the_api_is_closed_to_who_has_no_token() {
    let place = Place::new();
    let served = Served::new(&place, &["--token", "0123456789abcdef"]);
    let refused = served.get("/api/runs");
    let value: Value = serde_json::from_str(&refused.body).unwrap();
    assert!(refused.status == 401 && value["error"].as_str().unwrap().contains("Bearer"), "{refused:?}");
    assert_eq!(served.ask("/api/runs", &["Authorization: Bearer 0123456789abcdef"]).status, 200);
    let open = Served::new(&place, &[]);
    let foreign = open.ask("/api/runs", &["Host: evil.example"]);
    assert!(foreign.status == 403 && foreign.body.starts_with("{\"error\""), "{foreign:?}");
}

/// A text as it stands in an address.
fn form(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
