//! `callboard collection`.

use std::path::PathBuf;

use callboard_api as api;
use callboard_engine::core::id::{CollectionName, Seq};
use clap::Subcommand;
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
    Create {
        /// The name of the collection
        name: CollectionName,
    },
    /// List the collections
    #[command(after_help = "Example:\n  callboard collection list")]
    List,
    /// Delete a collection with all its documents
    #[command(after_help = "Example:\n  callboard collection remove handbook")]
    Remove {
        /// The name of the collection
        name: CollectionName,
    },
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

pub(super) async fn execute(context: &Context, command: Collection) -> Result<(), Failure> {
    let output = context.output;
    match command {
        Collection::Create { name } => {
            let made = call(context, Method::PUT, &name, &[]).answer::<api::Collection>().await?;
            output.answer(&made.json, |output| output.line(summary(&made.it)));
        }
        Collection::List => {
            let list = context.client.call(Method::GET, &["v1", "collections"]);
            let list = list.answer::<api::CollectionList>().await?;
            output.answer(&list.json, |output| table(&list.it.collections, output));
        }
        Collection::Remove { name } => {
            call(context, Method::DELETE, &name, &[]).done().await?;
            output.answer(&json!({"removed": name}), |output| output.line(format!("removed {name}")));
        }
        Collection::Erase { name, seq, reason } => {
            let call = call(context, Method::DELETE, &name, &["journal", &seq.to_string()]).query("reason", reason);
            let erased = call.answer::<api::ErasedEntry>().await?;
            output.answer(&erased.json, |output| {
                output.line(format!("erased entry {}", erased.it.seq));
                erased.it.copies.iter().for_each(|seq| output.line(format!("erased its copy in entry {seq}")));
                erased.it.forks.iter().for_each(|id| output.line(format!("{id} still holds it")));
            });
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
            let made = call(context, Method::POST, &name, &["import"]).lines(lines).answer::<api::Collection>().await?;
            output.answer(&made.json, |output| output.line(summary(&made.it)));
        }
    }
    Ok(())
}

fn call<'a>(context: &'a Context, method: Method, name: &CollectionName, path: &[&str]) -> Call<'a> {
    context.client.call(method, &[&["v1", "collections", name.as_str()], path].concat())
}

fn summary(collection: &api::Collection) -> String {
    let api::Collection { name, documents, tokens, .. } = collection;
    format!("{name}: {}, {}", counted(documents, "document"), counted(tokens, "token"))
}

fn table(collections: &[api::Collection], output: Output) {
    let row = |collection: &api::Collection| {
        let api::Collection { name, documents, tokens, updated_at, .. } = collection;
        vec![name.to_string(), documents.to_string(), tokens.to_string(), output.time(*updated_at)]
    };
    let head = ["COLLECTION", "DOCUMENTS", "TOKENS", "CHANGED"];
    output.list(&head, &collections.iter().map(row).collect::<Vec<_>>(), "collections");
}
