//! `callboard documents add`.

use std::{path::Path, process::ExitCode, sync::Arc};

use callboard_api as api;
use callboard_convert::{Refusal, convert};
use callboard_engine::core::id::DocumentName;
use http::Method;
use serde_json::json;

use super::{
    DocumentsAdd, Place,
    gather::{Gathered, Source, read},
};
use crate::{
    commands::Context,
    failure::Failure,
    output::{Output, Style, counted},
};

/// The documents that were put.
type Put = Vec<(DocumentName, api::DocumentOutcome)>;

pub(super) async fn add(context: &Context, args: DocumentsAdd) -> Result<ExitCode, Failure> {
    let mut gathered = gathered(&args)?;
    let DocumentsAdd { place, media_type, visible_to, .. } = args;
    let place = Place::of(context, place).await?;
    let files = std::mem::take(&mut gathered.files);
    let count = files.len();
    let mut put = Put::new();
    for (at, (name, source)) in files.into_iter().enumerate() {
        context.output.progress(&format!("adding {} of {count}: {name}", at + 1));
        let media_type = media_type.as_ref().map(|media_type| media_type.as_str().to_owned());
        let file = source.clone();
        let text = tokio::task::spawn_blocking(move || text(&file, media_type.as_deref())).await;
        let text = text.map_err(|error| Failure::failed("internal", format!("a file could not be read: {error}")))?;
        let document = match text {
            Ok((text, media_type)) => api::PutDocument { text, visible_to: visible_to.clone(), media_type },
            Err(NoText::LeftOut(reason)) => {
                gathered.leave_out(&source.path, reason);
                continue;
            }
            Err(NoText::Failed(reason)) => {
                gathered.fail(&source.path, reason);
                continue;
            }
        };
        let call = place.call(Method::PUT, Some(&name)).json(&document);
        match call.answer::<api::DocumentChanged>().await {
            Ok(changed) => put.push((name, changed.it.outcome)),
            Err(failure) if concerns_one(&failure) => gathered.fail(&source.path, failure.problem.detail),
            Err(failure) => {
                context.output.progress("");
                if !put.is_empty() {
                    context.output.note(format!("{} before this error", summary(&put, &gathered)));
                }
                return Err(failure);
            }
        }
    }
    context.output.progress("");
    tell(&put, &gathered, context.output);
    Ok(if gathered.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The files that are named.
fn gathered(args: &DocumentsAdd) -> Result<Gathered, Failure> {
    let is_input = |path: &&std::path::PathBuf| path.as_path() == Path::new("-");
    let is_single = args.paths.len() == 1 && args.paths.iter().all(|path| is_input(&path) || !path.is_dir());
    if args.name.is_some() && !is_single {
        return Err(Failure::usage("usage", "--name is for one file: name one, and no folder"));
    }
    let mut gathered = Gathered::default();
    for path in &args.paths {
        match &args.name {
            Some(name) if is_input(&path) => {
                gathered.files.insert(name.clone(), Source { path: path.clone(), is_named: true });
            }
            None if is_input(&path) => {
                return Err(Failure::usage("usage", "the standard input has no name: give one with --name"));
            }
            name => gathered.take(path, name.as_ref()),
        }
    }
    Ok(gathered)
}

/// Why a file has no text.
enum NoText {
    /// It is not meant: it is no text, and nobody named it.
    LeftOut(String),
    /// It should be a text.
    Failed(String),
}

/// The text of a file, and what it is.
fn text(source: &Source, media_type: Option<&str>) -> Result<(Arc<str>, Option<api::MediaType>), NoText> {
    let bytes = read(&source.path).map_err(NoText::Failed)?;
    let converted = convert(&source.path.to_string_lossy(), bytes, media_type).map_err(|refusal| match refusal {
        Refusal::Binary { .. } | Refusal::Blank if !source.is_named => NoText::LeftOut(refusal.to_string()),
        refusal => NoText::Failed(refusal.to_string()),
    })?;
    // What was said holds, unless it was converted.
    let kept = media_type.filter(|media_type| *media_type != callboard_convert::HTML);
    Ok((converted.text.into(), kept.unwrap_or(converted.media_type).parse().ok()))
}

/// Whether only this document was refused, and others may not be.
fn concerns_one(failure: &Failure) -> bool {
    ["invalid", "too_large"].contains(&failure.problem.code.as_str())
}

fn tell(put: &Put, gathered: &Gathered, output: Output) {
    let pairs = |of: &[(String, String)]| -> Vec<_> {
        of.iter().map(|(path, reason)| json!({"path": path, "reason": reason})).collect()
    };
    let documents: Vec<_> = put.iter().map(|(name, outcome)| json!({"name": name, "outcome": outcome})).collect();
    let (left_out, failed) = (pairs(&gathered.left_out), pairs(&gathered.failed));
    output.answer(&json!({"documents": documents, "left_out": left_out, "failed": failed}), |output| {
        for (path, reason) in &gathered.left_out {
            output.line(format!("left out {path}: {reason}"));
        }
        for (path, reason) in &gathered.failed {
            output.line(format!("{} {path}: {reason}", output.paint(Style::Bad, "not added")));
        }
        output.line(summary(put, gathered));
    });
}

/// What was done, in one line.
fn summary(put: &Put, gathered: &Gathered) -> String {
    let count = |wanted| put.iter().filter(|(_, outcome)| *outcome == wanted).count();
    let mut done = vec![format!("added {}", counted(count(api::DocumentOutcome::Created), "document"))];
    let more = [
        (count(api::DocumentOutcome::Updated), "replaced"),
        (count(api::DocumentOutcome::Unchanged), "unchanged"),
        (gathered.left_out.len(), "left out"),
        (gathered.failed.len(), "not added"),
    ];
    done.extend(more.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    done.join(", ")
}
