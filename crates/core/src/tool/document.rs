//! The tool of models for documents.

use serde::Deserialize;
use serde_json::json;

use crate::{
    id::{CollectionName, DocumentName},
    tool::{OwnTool, Read, ToolExecution, parse, text},
};

/// Reads a document.
pub(crate) static READ_DOCUMENT: OwnTool = OwnTool {
    name: "read_document",
    description: "Reads a document by its name, whole.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let NamedDocument { name, collection } = parse(arguments)?;
        if collection.is_none() {
            view.document(&name)?;
        }
        Ok(Read::Document(name, collection))
    }),
    is_for: |_| true,
    arguments: || {
        let collection = text("Its collection, if it is in one.");
        (json!({"name": text("The name of the document."), "collection": collection}), json!(["name"]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedDocument {
    name: DocumentName,
    collection: Option<CollectionName>,
}
