//! The elements of an XML file, with their places.

use roxmltree::{Document, Node, ParsingOptions};

use super::super::simulator::mistake;
use super::super::{Notice, Severity, SourceRange};

/// The most nodes of a file, of which MQSim's have some hundreds.
const NODES_MAX: u32 = 1 << 17;

/// What MQSim's parser takes for the start of a closing tag, and some of its own example files have.
const SLIP: &str = "</<";

/// The text with such tags as they are meant, every character where it was; tells of the first.
pub(super) fn mended(text: &str, notices: &mut Vec<Notice>) -> String {
    if let Some(at) = text.find(SLIP) {
        let message = "`</<` is taken for `</`, as in MQSim".to_owned();
        let help = Some("close an element by `</` and its name".to_owned());
        let (severity, code, option) = (Severity::Note, "mqsim::xml", SLIP.to_owned());
        notices.push(Notice { severity, code, option, message, help, place: range(text, at..at + SLIP.len()) });
    }
    text.replace(SLIP, " </")
}

/// The elements of a file. A document type, by which a file could define entities or name other files, is refused.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Notice> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, entity_resolver: None };
    Document::parse_with_options(text, options).map_err(|error| {
        let at = offset(text, error.pos());
        let help = match error {
            roxmltree::Error::DtdDetected => "leave `<!DOCTYPE …>` out; MQSim's files have none",
            roxmltree::Error::NodesLimitReached => "a file of MQSim's has some hundreds of elements",
            _ => "each element is closed by its own name: `<Seed>1</Seed>`",
        };
        let message = match error {
            roxmltree::Error::DtdDetected => "a document type is not read".to_owned(),
            error => format!("this is no XML: {error}"),
        };
        mistake("mqsim::xml", "XML", message, help, range(text, at..next(text, at)))
    })
}

/// An element's opening tag, or as much of it as is its name.
pub(super) fn tag(node: Node) -> SourceRange {
    let text = node.document().input_text();
    let start = node.range().start;
    let end = start + 1 + node.tag_name().name().len();
    range(text, start..end.min(text.len()))
}

/// An element on its line.
pub(super) fn element(node: Node) -> SourceRange {
    let text = node.document().input_text();
    let whole = node.range();
    let line = text[whole.clone()].find('\n').map_or(whole.end, |end| whole.start + end);
    range(text, whole.start..line)
}

/// The text of an element, without comments and the blanks at its ends.
pub(super) fn content(node: Node) -> String {
    let parts: String = node.children().filter(Node::is_text).filter_map(|part| part.text()).collect();
    parts.trim().to_owned()
}

fn range(text: &str, span: std::ops::Range<usize>) -> SourceRange {
    let line = text[..span.start].bytes().filter(|byte| *byte == b'\n').count() + 1;
    SourceRange { source: 0, span, line }
}

/// Where a row and a column are, in bytes.
fn offset(text: &str, at: roxmltree::TextPos) -> usize {
    let row = (at.row as usize).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or("");
    let column = (at.col as usize).saturating_sub(1);
    start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}

fn next(text: &str, at: usize) -> usize {
    text[at..].chars().next().filter(|c| *c != '\n').map_or(at, |c| at + c.len_utf8())
}
