//! A server that the protocol's public conformance suite can test: it has the tools, resources and prompts that the suite asks
//! for, behind the same door as Callboard's own. `cargo xtask mcp` runs it.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "it is a test, and prints its address"
)]
#![allow(deprecated, reason = "the suite tests what clients of earlier protocols use")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use axum::{Router, body::Body, extract::Request, response::Response, routing::any};
use callboard_mcp::{Connections, Door, Scope};
use http::{StatusCode, header};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, UnsubscribeRequestParams,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// A picture of one red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const TOOLS: &[(&str, &str)] = &[
    ("test_simple_text", "Gives a text"),
    ("test_image_content", "Gives a picture"),
    ("test_audio_content", "Gives a sound"),
    ("test_embedded_resource", "Gives a resource"),
    ("test_multiple_content_types", "Gives several things"),
    ("test_tool_with_logging", "Tells what it does"),
    ("test_error_handling", "Fails"),
    ("test_tool_with_progress", "Tells how far it is"),
    ("test_sampling", "Asks the client's model"),
    ("test_elicitation", "Asks the person"),
    ("test_elicitation_sep1034_defaults", "Asks with values to begin with"),
    ("test_elicitation_sep1330_enums", "Asks with choices"),
    ("test_reconnection", "Gives a text to a client that may have come back"),
    ("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features"),
];

struct Fixture;

/// What JSON says, as one of the protocol's types.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn text(text: &str) -> CallToolResult {
    typed(json!({"content": [{"type": "text", "text": text}]}))
}

fn schema(name: &str) -> Value {
    match name {
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": false,
        }),
        "test_sampling" => argument("prompt"),
        "test_elicitation" => argument("message"),
        _ => json!({"type": "object", "properties": {}}),
    }
}

fn argument(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

impl Fixture {
    async fn elicit(context: &RequestContext<RoleServer>, message: &str, schema: Value) -> Result<Value, ErrorData> {
        let asked: ElicitRequestParams = typed(json!({"mode": "form", "message": message, "requestedSchema": schema}));
        let given = context.peer.create_elicitation(asked).await;
        let given = given.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(serde_json::to_value(given).unwrap())
    }

    async fn elicited(context: &RequestContext<RoleServer>, schema: Value) -> Result<CallToolResult, ErrorData> {
        let given = Self::elicit(context, "Please fill this in", schema).await?;
        let action = given["action"].as_str().unwrap_or_default();
        Ok(text(&format!("Elicitation completed: action={action}, content={}", given["content"])))
    }

    async fn log(context: &RequestContext<RoleServer>, said: &str) {
        let told = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
        let _ = context.peer.notify_logging_message(told).await;
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixture", "1"))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(typed(json!({"completion": {"values": ["paris", "park"], "total": 2, "hasMore": false}})))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<_> = TOOLS
            .iter()
            .map(|(name, does)| json!({"name": name, "description": does, "inputSchema": schema(name)}))
            .collect();
        Ok(typed(json!({"tools": tools})))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |name: &str| {
            let arguments = request.arguments.as_ref();
            arguments.and_then(|all| all.get(name)?.as_str()).unwrap_or_default().to_owned()
        };
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        let result: CallToolResult = match request.name.as_ref() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => typed(json!({"content": [image]})),
            "test_audio_content" => {
                typed(json!({"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}))
            }
            "test_embedded_resource" => typed(json!({"content": [{"type": "resource", "resource": {
                "uri": "test://embedded-resource", "mimeType": "text/plain",
                "text": "This is an embedded resource content."}}]})),
            "test_multiple_content_types" => typed(json!({"content": [
                {"type": "text", "text": "Multiple content types test:"}, image,
                {"type": "resource", "resource": {"uri": "test://mixed-content-resource",
                    "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}"}}]})),
            "test_error_handling" => typed(json!({"isError": true, "content": [
                {"type": "text", "text": "This tool intentionally returns an error for testing"}]})),
            "test_tool_with_logging" => {
                for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    Self::log(&context, said).await;
                    sleep(Duration::from_millis(50)).await;
                }
                text("Logged.")
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let told = ProgressNotificationParam::new(token, progress).with_total(100.0);
                        let _ = context.peer.notify_progress(told).await;
                    }
                    sleep(Duration::from_millis(50)).await;
                }
                text("Done.")
            }
            "test_sampling" => {
                let asked = typed(json!({"messages": [{"role": "user",
                    "content": {"type": "text", "text": argument("prompt")}}], "maxTokens": 100}));
                let given = context.peer.create_message(asked).await;
                let given = given.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                let given = serde_json::to_value(given).unwrap();
                text(&format!("LLM response: {}", given.pointer("/content/text").unwrap_or(&given)))
            }
            "test_elicitation" => {
                let properties = json!({"username": {"type": "string", "description": "User's response"},
                    "email": {"type": "string", "description": "User's email address"}});
                let schema = json!({"type": "object", "properties": properties, "required": ["username", "email"]});
                let given = Self::elicit(&context, &argument("message"), schema).await?;
                text(&format!("User response: <action: {}, content: {}>", given["action"], given["content"]))
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true}});
                Self::elicited(&context, json!({"type": "object", "properties": properties, "required": []})).await?
            }
            "test_elicitation_sep1330_enums" => {
                let named = |first: &str| {
                    json!([{"const": "value1", "title": format!("First {first}")},
                    {"const": "value2", "title": format!("Second {first}")}, {"const": "value3", "title": format!("Third {first}")}])
                };
                let plain = json!(["option1", "option2", "option3"]);
                let properties = json!({
                    "untitledSingle": {"type": "string", "enum": plain},
                    "titledSingle": {"type": "string", "oneOf": named("Option")},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                        "enumNames": ["Option One", "Option Two", "Option Three"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
                    "titledMulti": {"type": "array", "items": {"anyOf": named("Choice")}}});
                Self::elicited(&context, json!({"type": "object", "properties": properties, "required": []})).await?
            }
            "test_reconnection" => text("Reconnection test completed successfully"),
            _ => text("This is a tool of the tests."),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = |uri: &str, media_type: &str| json!({"uri": uri, "name": uri, "description": "A resource of the tests", "mimeType": media_type});
        Ok(typed(json!({"resources": [
            listed("test://static-text", "text/plain"), listed("test://static-binary", "image/png"),
            listed("test://watched-resource", "text/plain")]})))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(typed(json!({"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "data",
            "description": "Data of an id", "mimeType": "application/json"}]})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            (_, Some(id)) => json!({"uri": uri, "mimeType": "application/json",
                "text": json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()}),
            ("test://static-text" | "test://watched-resource", _) => json!({"uri": uri, "mimeType": "text/plain",
                "text": "This is the content of the static text resource."}),
            _ => return Err(ErrorData::resource_not_found(format!("there is no {uri}"), None)),
        };
        Ok(typed::<ReadResourceResult>(json!({"contents": [content]})).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({"name": name, "description": "An argument of the tests", "required": true});
        let listed = |name: &str, arguments: Value| json!({"name": name, "description": "A prompt of the tests", "arguments": arguments});
        Ok(typed(json!({"prompts": [
            listed("test_simple_prompt", json!([])),
            listed("test_prompt_with_arguments", json!([argument("arg1"), argument("arg2")])),
            listed("test_prompt_with_embedded_resource", json!([argument("resourceUri")])),
            listed("test_prompt_with_image", json!([]))]})))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = |text: &str| json!({"type": "text", "text": text});
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
            }
            "test_prompt_with_embedded_resource" => vec![
                json!({"type": "resource", "resource": {"uri": argument("resourceUri"), "mimeType": "text/plain",
                    "text": "Embedded resource content for testing."}}),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![
                json!({"type": "image", "data": PNG, "mimeType": "image/png"}),
                text("Please analyze the image above."),
            ],
            other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
        };
        let messages: Vec<_> =
            contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
        Ok(typed::<GetPromptResult>(json!({"messages": messages})).into())
    }
}

/// Connections in memory.
#[derive(Default)]
struct InMemory(Mutex<HashMap<String, Value>>);

#[async_trait]
impl Connections for InMemory {
    async fn keep(&self, name: &str, said: Value) -> Result<(), String> {
        self.0.lock().unwrap().insert(name.to_owned(), said);
        Ok(())
    }

    async fn is_kept(&self, name: &str) -> Result<bool, String> {
        Ok(self.0.lock().unwrap().contains_key(name))
    }

    async fn said(&self, name: &str) -> Result<Option<Value>, String> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }

    async fn forget(&self, name: &str) -> Result<(), String> {
        self.0.lock().unwrap().remove(name);
        Ok(())
    }
}

/// Callboard's server checks hosts before its door.
fn is_here(request: &Request) -> bool {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let origin = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    host.starts_with("127.0.0.1:") && origin.is_none_or(|origin| origin == format!("http://{host}"))
}

#[tokio::main]
async fn main() {
    let door = Arc::new(Door::with(|| Fixture, Arc::new(InMemory::default()), 100, CancellationToken::new()));
    let answer = move |request: Request| {
        let door = door.clone();
        async move {
            if !is_here(&request) {
                return Response::builder().status(StatusCode::FORBIDDEN).body(Body::empty()).unwrap();
            }
            let (parts, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            door.answer(http::Request::from_parts(parts, body), Scope::default()).await.map(Body::new)
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("listening on http://{}", listener.local_addr().unwrap());
    axum::serve(listener, Router::new().route("/mcp", any(answer))).await.unwrap();
}
