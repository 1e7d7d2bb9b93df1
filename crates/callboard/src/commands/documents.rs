//! `callboard documents`.

mod add;
mod gather;

use std::{path::PathBuf, process::ExitCode};

use callboard_api as api;
use callboard_engine::core::{
    audience::Audience,
    document::MediaType,
    id::{CollectionName, DocumentName},
};
use clap::{Args, Subcommand};
use http::Method;

use super::{Context, collection};
use crate::{
    cli::On,
    client::{Call, Client, OnSession},
    failure::Failure,
    output::{Output, counted},
    parse,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Documents {
    /// Add files and folders as documents
    #[command(
        alias = "put",
        after_help = "Examples:\n  callboard documents add guides README.md\n  callboard documents add handbook --collection handbook --visible-to writer,editor\n  curl https://example.org/ | callboard documents add - --name example.html\n\nA document is named by its path below the folder given here. It replaces a document of the same name. HTML becomes Markdown. Links are not followed. In folders, hidden files and files that are not text are left out. The exit status is 1 if something could not be added."
    )]
    Add(DocumentsAdd),
    /// List the documents
    #[command(after_help = "Example:\n  callboard documents list --as writer")]
    List(PlaceArg),
    /// Show a document
    #[command(after_help = "Example:\n  callboard documents show guides/style.md")]
    Show(NamedDocument),
    /// Remove a document
    #[command(after_help = "Example:\n  callboard documents remove guides/style.md")]
    Remove(NamedDocument),
}

/// The document that a command is about.
#[derive(Args, Debug)]
pub(crate) struct NamedDocument {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The name of the document
    pub(crate) name: DocumentName,
}

/// Add files and folders as documents
#[derive(Args, Debug)]
pub(crate) struct DocumentsAdd {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// Files and folders, or - for the standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The name of the document, if there is one file
    #[arg(long)]
    pub(crate) name: Option<DocumentName>,
    /// What the files are, such as text/html (default: what their names say)
    #[arg(long, value_name = "TYPE")]
    pub(crate) media_type: Option<MediaType>,
    /// Who sees them: all, none, or names separated by commas
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
}

/// Where the documents are.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlaceArg {
    #[command(flatten)]
    pub(crate) on: On,
    /// The collection (default: the documents of the session). With --as or --session, it is read through that session, which
    /// must name it
    #[arg(long, value_name = "NAME")]
    pub(crate) collection: Option<CollectionName>,
}

/// A session or a collection.
enum Place<'a> {
    /// The documents of a session, or those of a collection as somebody sees them through a session.
    Session(OnSession<'a>, Option<CollectionName>),
    Collection(&'a Client, CollectionName),
}

impl<'a> Place<'a> {
    /// What is changed there.
    async fn of(context: &'a Context, arg: PlaceArg) -> Result<Self, Failure> {
        match arg.collection {
            Some(_) if arg.on.acting_as.agent.is_some() => {
                Err(Failure::usage("usage", "agents change no collections: leave --as out, or --collection"))
            }
            Some(name) => Ok(Self::Collection(&context.client, name)),
            None => Ok(Self::Session(context.session_on(&arg.on).await?, None)),
        }
    }

    /// What is read there. An agent reads a collection through a session.
    async fn read(context: &'a Context, arg: PlaceArg) -> Result<Self, Failure> {
        match arg.collection {
            Some(name) if arg.on.acting_as.agent.is_none() && arg.on.session.is_none() => {
                Ok(Self::Collection(&context.client, name))
            }
            collection => Ok(Self::Session(context.session_on(&arg.on).await?, collection)),
        }
    }

    /// A call on the documents, or on the one of this name.
    fn call(&self, method: Method, name: Option<&DocumentName>) -> Call<'a> {
        let path: Vec<_> = ["documents"].into_iter().chain(name.map(DocumentName::as_str)).collect();
        match self {
            Self::Session(session, collection) => session.call(method, &path).maybe("collection", collection.as_ref()),
            Self::Collection(client, name) => collection::call(client, method, name, &path),
        }
    }
}

pub(super) async fn execute(context: &Context, command: Documents) -> Result<ExitCode, Failure> {
    let output = context.output;
    match command {
        Documents::Add(args) => return add::add(context, args).await,
        Documents::List(place) => {
            Place::read(context, place).await?.call(Method::GET, None).print(output, table).await?;
        }
        Documents::Show(NamedDocument { place, name }) => {
            Place::read(context, place).await?.call(Method::GET, Some(&name)).print(output, show).await?;
        }
        Documents::Remove(NamedDocument { place, name }) => {
            Place::of(context, place).await?.call(Method::DELETE, Some(&name)).done().await?;
            output.done("removed", &name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(list: &api::DocumentList, output: Output) {
    let row = |document: &api::Document| {
        let (tokens, visible_to) = (document.tokens.to_string(), document.visible_to.to_string());
        vec![document.name.to_string(), tokens, visible_to, document.media_type.to_string()]
    };
    output.list(&["DOCUMENT", "TOKENS", "VISIBLE TO", "TYPE"], list.documents.iter().map(row), "documents");
}

fn show(document: &api::Document, output: Output) {
    let api::Document { name, tokens, visible_to, media_type, .. } = document;
    output.note(format!("{name}: {}, {media_type}, visible to {visible_to}", counted(tokens, "token")));
    match &document.text {
        Some(text) => output.line(&**text),
        None => output.note("the text is hidden from this agent"),
    }
}
