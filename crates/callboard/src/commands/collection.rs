//! `callboard collection`.

use std::path::PathBuf;

use callboard_api as api;
use callboard_engine::core::id::{CollectionName, Seq};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::json;

use super::{Context, transfer};
use crate::{
    client::Call,
    failure::Failure,
    output::{Output, counted},
    parse,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Collection {
    /// Create a collection
    #[command(
        after_help = "Example:\n  callboard collection create handbook\n  callboard documents add handbook --collection handbook\n  callboard session update --collections handbook"
    )]
    Create(NamedCollection),
    /// List the collections
    #[command(after_help = "Example:\n  callboard collection list")]
    List,
    /// Delete a collection with all its documents
    #[command(after_help = "Example:\n  callboard collection remove handbook")]
    Remove(NamedCollection),
    /// Erase what an entry of a collection says, for good
    #[command(after_help = "Example:\n  callboard collection erase handbook 12 --reason 'a private number'")]
    Erase {
        /// The name of the collection
        name: CollectionName,
        /// The entry
        #[arg(value_parser = parse::seq)]
        seq: Seq,
        /// Why, for the journal
        #[arg(long, value_name = "TEXT", default_value = "erased by hand")]
        reason: String,
    },
    /// Export a collection as JSON lines
    #[command(after_help = "Example:\n  callboard collection export handbook handbook.jsonl")]
    Export {
        /// The name of the collection
        name: CollectionName,
        /// The file, or - for the standard output
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
    },
    /// Import an exported collection
    #[command(after_help = "Example:\n  callboard collection import handbook handbook.jsonl")]
    Import {
        /// The name of the new collection
        name: CollectionName,
        /// The file, or - for the standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// The collection that a command is about.
#[derive(Args, Debug)]
pub(crate) struct NamedCollection {
    /// The name of the collection
    pub(crate) name: CollectionName,
}

pub(super) async fn execute(context: &Context, command: Collection) -> Result<(), Failure> {
    let output = context.output;
    match command {
        Collection::Create(NamedCollection { name }) => {
            call(context, Method::PUT, &name, &[]).print(output, summary).await?;
        }
        Collection::List => context.client.call(Method::GET, &["v1", "collections"]).print(output, table).await?,
        Collection::Remove(NamedCollection { name }) => {
            call(context, Method::DELETE, &name, &[]).done().await?;
            output.done("removed", &name);
        }
        Collection::Erase { name, seq, reason } => {
            let call = call(context, Method::DELETE, &name, &["journal", &seq.to_string()]).query("reason", reason);
            call.print(output, erased).await?;
        }
        Collection::Export { name, file } => {
            let pieces = call(context, Method::GET, &name, &["export"]).pieces().await?;
            if let Some(lines) = transfer::write(pieces, &file, output).await? {
                let answer = json!({"collection": name, "file": file, "lines": lines});
                output.answer(&answer, |output| {
                    output.line(format!("exported {name} to {}: {}", file.display(), counted(lines, "line")));
                });
            }
        }
        Collection::Import { name, file } => {
            let lines = transfer::read(&file).await?;
            call(context, Method::POST, &name, &["import"]).lines(lines).print(output, summary).await?;
        }
    }
    Ok(())
}

fn call<'a>(context: &'a Context, method: Method, name: &CollectionName, path: &[&str]) -> Call<'a> {
    context.client.call(method, &[&["v1", "collections", name.as_str()], path].concat())
}

fn summary(collection: &api::Collection, output: Output) {
    let api::Collection { name, documents, tokens, .. } = collection;
    output.line(format!("{name}: {}, {}", counted(documents, "document"), counted(tokens, "token")));
}

fn erased(erased: &api::ErasedEntry, output: Output) {
    output.line(format!("erased entry {}", erased.seq));
    erased.copies.iter().for_each(|seq| output.line(format!("erased its copy in entry {seq}")));
    erased.forks.iter().for_each(|id| output.line(format!("{id} still holds it")));
}

fn table(list: &api::CollectionList, output: Output) {
    let row = |collection: &api::Collection| {
        let api::Collection { name, documents, tokens, updated_at, .. } = collection;
        vec![name.to_string(), documents.to_string(), tokens.to_string(), output.time(*updated_at)]
    };
    let head = ["COLLECTION", "DOCUMENTS", "TOKENS", "CHANGED"];
    output.list(&head, list.collections.iter().map(row), "collections");
}
