//! What nearly all calls are declared with. A resource takes the whole of it.

pub(crate) use axum::http::StatusCode;
pub(crate) use callboard_api as api;
pub(crate) use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use crate::{
    answer::Answer,
    app::App,
    body::{Empty, RequestBody},
    call_error::CallError,
    caller::Authorized,
    params::{InPath, Query},
};
