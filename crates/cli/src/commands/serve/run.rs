//! One run: its report, and the same for programs and terminals.

use hyper::header;
use lab::recall;
use store::{RunId, Store};

use super::refusal::Refusal;
use crate::http::HttpResponse;

/// Columns of the summary as text.
const WIDTH: u16 = 100;

/// The report.
pub fn page(store: &Store, run: RunId) -> Result<HttpResponse, Refusal> {
    let outcome = recall(store, run)?;
    Ok(HttpResponse::html(200, report::site::report(&outcome)))
}

/// The run as `json`, `csv` or `text`.
pub fn document(store: &Store, run: RunId, form: &str) -> Result<HttpResponse, Refusal> {
    type Writer = fn(&lab::Outcome) -> String;
    let (media_type, ending, write): (_, _, Writer) = match form {
        "json" => ("application/json", "json", report::export::review_json),
        "csv" => ("text/csv; charset=utf-8", "csv", report::export::review_csv),
        "text" => ("text/plain; charset=utf-8", "txt", |outcome| report::summary(outcome, WIDTH, false)),
        _ => return Err(Refusal::NoSuchPage),
    };
    let text = write(&recall(store, run)?);
    let name = format!("inline; filename=\"assay-run-{run}.{ending}\"");
    Ok(HttpResponse::text(media_type, text).with(header::CONTENT_DISPOSITION, name))
}
