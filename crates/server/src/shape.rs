//! The shapes of what is sent and given, for the OpenAPI document, where the types themselves are the rules' own. That
//! they agree is held by tests, one of which makes up calls from the document.

#![allow(dead_code, reason = "they are read by the document alone")]

pub(crate) mod rules;
pub(crate) mod text;

pub(crate) mod agent;
pub(crate) mod directive;
pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod form;
pub(crate) mod message;
pub(crate) mod profile;
pub(crate) mod prompt;
pub(crate) mod session;
pub(crate) mod step;
