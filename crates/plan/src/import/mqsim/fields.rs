//! The fields that stand in an element.

use roxmltree::Node;

use super::super::simulator::field::{self, FieldSpec, FieldValues, FoundField};
use super::super::{Notice, SourceRange};
use super::MQSIM;
use super::xml::{content, element, tag};

/// Reads the fields that stand in `node`, or those that MQSim has without one. `groups` are elements with fields of their own.
pub(super) fn read(
    node: Option<Node>,
    specs: &'static [FieldSpec],
    groups: &[&str],
    nowhere: &SourceRange,
    notices: &mut Vec<Notice>,
) -> FieldValues {
    let place = node.map_or_else(|| nowhere.clone(), tag);
    let children = node.into_iter().flat_map(|node| node.children()).filter(Node::is_element);
    let of_fields = children.filter(|child| !groups.contains(&child.tag_name().name()));
    let found = of_fields.map(|child| FoundField {
        name: child.tag_name().name().to_owned(),
        text: content(child),
        place: element(child),
    });
    field::values(&MQSIM, specs, found, &place, notices)
}
