//! `callboard collection`.

use std::path::PathBuf;

use callboard_api as api;
use callboard_engine::core::id::{CollectionName, Seq};
use clap::{Args, Subcommand};
use http::Method;

use super::{Context, transfer};
use crate::{
    client::{Call, Client},
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
    let (client, output) = (&context.client, context.output);
    match command {
        Collection::Create(NamedCollection { name }) => {
            call(client, Method::PUT, &name, &[]).print(output, summary).await?;
        }
        Collection::List => client.call(Method::GET, &["v1", "collections"]).print(output, table).await?,
        Collection::Remove(NamedCollection { name }) => {
            call(client, Method::DELETE, &name, &[]).done().await?;
            output.done("removed", &name);
        }
        Collection::Erase { name, seq, reason } => {
            let call = call(client, Method::DELETE, &name, &["journal", &seq.to_string()]).query("reason", reason);
            call.print(output, erased).await?;
        }
        Collection::Export { name, file } => {
            let call = call(client, Method::GET, &name, &["export"]);
            transfer::write(call, ("collection", name.as_str()), &file, output).await?;
        }
        Collection::Import { name, file } => {
            let lines = transfer::read(&file).await?;
            call(client, Method::POST, &name, &["import"]).lines(lines).print(output, summary).await?;
        }
    }
    Ok(())
}

/// A call on `path` below a collection.
pub(super) fn call<'a>(client: &'a Client, method: Method, name: &CollectionName, path: &[&str]) -> Call<'a> {
    client.call(method, &[&["v1", "collections", name.as_str()], path].concat())
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
