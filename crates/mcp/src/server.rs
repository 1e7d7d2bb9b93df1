//! The server of the protocol: requests of a client, as calls of the API.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Extensions, GetPromptRequestParams, GetPromptResponse,
        Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::interval,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Api, Scope,
    call::{ApiCall, Caller},
    form,
    place::Resource,
    watch::{Listener, watch},
};

/// How often a client that wants to know is told that a tool is still at work.
const PROGRESS: Duration = Duration::from_secs(2);
/// How often it is looked whether a client is still there.
const LOOK: Duration = Duration::from_secs(10);

const INSTRUCTIONS: &str = "Callboard keeps what a team of agents knows in one session: context sets, a plan, conversations and \
    files. Begin with the tool `get_prompt`: it gives what you need to know now. The prompt `join` says how to work with the team.";

/// A connection with one client.
#[derive(Clone)]
pub struct Server {
    api: Arc<dyn Api>,
    /// Who asks, where the requests themselves do not say it.
    scope: Scope,
    subscribed: Arc<Mutex<Subscribed>>,
    /// Cancelled when the connection, or the server, ends.
    closing: CancellationToken,
}

/// What a client of an earlier protocol wants to know of.
#[derive(Default)]
struct Subscribed {
    resources: Vec<Resource>,
    /// The sessions that are watched for it.
    watched: BTreeSet<String>,
}

/// Answers one client, which writes its requests to `input` and reads the answers from `output`, until it closes them; otherwise
/// it says why the connection ended.
pub async fn serve_stdio(
    api: Arc<dyn Api>,
    scope: Scope,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let closing = CancellationToken::new();
    let _closing = closing.clone().drop_guard();
    let server = Server::new(api, scope, closing);
    let running = server.serve((input, output)).await.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}

impl Server {
    pub(crate) fn new(api: Arc<dyn Api>, scope: Scope, closing: CancellationToken) -> Self {
        Self { api, scope, subscribed: Arc::default(), closing }
    }

    /// Makes calls for whoever made a request.
    fn caller(&self, extensions: &Extensions) -> Caller {
        let of_request = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Scope>());
        Caller { api: self.api.clone(), scope: of_request.unwrap_or(&self.scope).clone() }
    }

    fn with_subscribed<T>(&self, change: impl FnOnce(&mut Subscribed) -> T) -> T {
        change(&mut self.subscribed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Watches a session for a client of an earlier protocol, if nobody does.
    fn watch(&self, caller: Caller, session: String, listener: Listener) {
        if !self.with_subscribed(|subscribed| subscribed.watched.insert(session.clone())) {
            return;
        }
        let (server, closing) = (self.clone(), self.closing.clone());
        tokio::spawn(async move {
            let subscribed = || server.with_subscribed(|subscribed| subscribed.resources.clone());
            tokio::select! {
                () = watch(&caller, &session, &listener, subscribed) => {}
                () = gone(&listener) => {}
                () = closing.cancelled() => {}
            }
            server.with_subscribed(|subscribed| subscribed.watched.remove(&session));
        });
    }
}

/// Waits until a client is gone.
async fn gone(listener: &Listener) {
    let Listener::Peer(peer) = listener else { return std::future::pending().await };
    while !peer.is_transport_closed() {
        tokio::time::sleep(LOOK).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("callboard", env!("CARGO_PKG_VERSION")).with_title("Callboard"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let caller = self.caller(&context.extensions);
        if let Some(session) = caller.scope.session.clone() {
            self.watch(caller, session.to_string(), Listener::Peer(context.peer));
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.caller(&context.extensions).tools().await?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context.extensions);
        if !caller.scope.offer.has(&request.name) || !caller.knows_tool(&request.name) {
            let detail = format!("there is no tool {:?} on offer here: tools/list lists them", request.name);
            return Err(ErrorData::invalid_params(detail, None));
        }
        let mut arguments = request.arguments.unwrap_or_default();
        let work = async {
            if request.name != form::ANSWER_FORMS {
                return caller.call_tool(&request.name, arguments).await.map(CallToolResponse::from);
            }
            let session = caller.session_in(&mut arguments)?;
            caller.answer_forms(&session, request.input_responses, &context).await
        };
        tokio::pin!(work);
        let token = context.meta.get_progress_token();
        // The first tick is at once: whoever has to wait knows that the call has begun.
        let mut ticks = interval(PROGRESS);
        let mut seconds = 0.0;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done.unwrap_or_else(|refusal| CallToolResult::from(refusal).into())),
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
                _ = ticks.tick(), if token.is_some() => {
                    if let Some(token) = token.clone() {
                        let told = ProgressNotificationParam::new(token, seconds);
                        let told = told.with_message(format!("{} is at work, {seconds} s", request.name));
                        // A client that is gone need not be told.
                        let _ = context.peer.notify_progress(told).await;
                    }
                    seconds += PROGRESS.as_secs_f64();
                }
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(self.caller(&context.extensions).resources().await?)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.caller(&context.extensions).templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(self.caller(&context.extensions).resource(&request.uri).await?.into())
    }

    #[allow(deprecated, reason = "clients of earlier protocols subscribe like this")]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context.extensions);
        let resource = Resource::at(&request.uri)?;
        let session = caller.session(Some(&resource.session))?;
        // It may be there later. Nothing is told of what the caller may not see, whether it is there or not.
        caller.asker(&session).await?;
        caller.ask(ApiCall::get(&session, &[])).await?;
        self.with_subscribed(|subscribed| {
            if !subscribed.resources.contains(&resource) {
                subscribed.resources.push(resource);
            }
        });
        self.watch(caller, session, Listener::Peer(context.peer));
        Ok(())
    }

    #[allow(deprecated, reason = "clients of earlier protocols subscribe like this")]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let resource = Resource::at(&request.uri)?;
        self.with_subscribed(|subscribed| subscribed.resources.retain(|other| *other != resource));
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let caller = self.caller(&context.request_context().extensions);
        let wanted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let wanted: Vec<Resource> = wanted.iter().filter_map(|uri| Resource::at(uri).ok()).collect();
        let own = caller.scope.session.as_ref().map(ToString::to_string);
        let sessions: BTreeSet<String> =
            wanted.iter().map(|resource| resource.session.clone()).chain(own.clone()).collect();
        // A connection is for its own session alone, where it has one.
        let sessions = sessions.iter().filter(|session| own.as_ref().is_none_or(|own| own == *session));
        let watches = sessions.map(|session| {
            let (caller, listener, wanted) = (&caller, Listener::Sink(context.sink().clone()), &wanted);
            async move { watch(caller, session, &listener, || wanted.clone()).await }
        });
        let watches = futures::future::join_all(watches);
        tokio::select! {
            _ = watches => context.cancelled().await,
            () = context.cancelled() => {}
            () = self.closing.cancelled() => {}
        }
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.caller(&context.extensions).prompts().await?))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context.extensions);
        Ok(caller.prompt(&request.name, request.arguments.unwrap_or_default()).await?.into())
    }
}
