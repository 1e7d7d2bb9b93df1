//! Sending commands: over Redis' own protocol, to one server or to a cluster, or over REST. A lost connection is replaced.

use std::time::Duration;

use redis::{
    Client, Cmd, ErrorKind, FromRedisValue as _, IntoConnectionInfo as _, Pipeline, RedisError, Value,
    aio::{ConnectionManager, ConnectionManagerConfig},
    cluster::{ClusterClient, ClusterClientBuilder, ClusterConfig},
    cluster_async::ClusterConnection,
    cluster_routing::{Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr},
};

use super::{
    address::Protocol,
    command::{Command, Reply},
    error::RedisFailure,
    rest::Rest,
};

/// The timeout for connecting.
const CONNECTING: Duration = Duration::from_secs(3);

/// The timeout for an answer. It must suffice for a value of 16 MiB.
const ANSWERING: Duration = Duration::from_secs(30);

/// The timeout for an answer about changes: longer than the server is asked to wait for a change.
const WAITING: Duration = Duration::from_secs(10);

/// The way to a server.
pub(super) enum Transport {
    /// A single server, possibly with replicas.
    Standalone { client: Box<Client>, connection: ConnectionManager },
    /// A cluster. All commands go to the primary of one slot, that of the namespace.
    Cluster { client: Box<ClusterClient>, connection: ClusterConnection, slot: Slot },
    /// A server over REST.
    Rest(Rest),
}

impl Transport {
    /// Connects to a server. If it is a node of a cluster, connects to the cluster for the slot of `key`.
    pub(super) async fn connect(protocol: &Protocol, key: &str) -> Result<Self, RedisFailure> {
        let url = match protocol {
            Protocol::Native(url) => url,
            Protocol::Rest { base, token } => return Ok(Self::Rest(Rest::new(base, token)?)),
        };
        // This fails if the program has chosen its own cryptography for TLS, which then stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let info = url.as_str().into_connection_info().map_err(fault)?;
        let client = Client::open(info.clone()).map_err(fault)?;
        let standalone = Self::standalone(&client, ANSWERING).await?;
        let facts = standalone.call(&Command::new(["INFO", "server"])).await?.text()?;
        if !facts.contains("redis_mode:cluster") {
            return Ok(standalone);
        }
        // The client must not repeat commands by itself: a change whose answer was lost may have been made.
        let cluster = ClusterClientBuilder::new([info]).retries(0).connection_timeout(CONNECTING);
        let client = cluster.response_timeout(ANSWERING).build().map_err(fault)?;
        let connection = client.get_async_connection().await.map_err(fault)?;
        Ok(Self::Cluster { client: Box::new(client), connection, slot: Slot::for_key(key) })
    }

    /// A connection to a single server.
    async fn standalone(client: &Client, timeout: Duration) -> Result<Self, RedisFailure> {
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECTING))
            .set_response_timeout(Some(timeout))
            .set_number_of_retries(2)
            .set_min_delay(Duration::from_millis(50))
            .set_max_delay(Duration::from_millis(500));
        let connection = ConnectionManager::new_with_config(client.clone(), config).await.map_err(fault)?;
        Ok(Self::Standalone { client: Box::new(client.clone()), connection })
    }

    pub(super) async fn call(&self, command: &Command<'_>) -> Result<Reply, RedisFailure> {
        let answer = match self {
            Self::Standalone { connection, .. } => connection.clone().send_packed_command(&packed(command)).await,
            Self::Cluster { connection, slot, .. } => {
                let primary = RoutingInfo::SingleNode(primary(*slot));
                connection.clone().route_command(packed(command), primary).await
            }
            Self::Rest(rest) => return rest.call(command).await,
        };
        reply(answer.map_err(fault)?)
    }

    /// Sends several commands at once, at least one. They are not one transaction.
    pub(super) async fn all(&self, commands: &[Command<'_>]) -> Result<Vec<Result<Reply, RedisFailure>>, RedisFailure> {
        let answers = match self {
            Self::Standalone { connection, .. } => {
                connection.clone().send_packed_commands(&pipeline(commands), 0, commands.len()).await
            }
            Self::Cluster { connection, slot, .. } => {
                connection.clone().route_pipeline(pipeline(commands), 0, commands.len(), primary(*slot)).await
            }
            Self::Rest(rest) => return rest.all(commands).await,
        };
        Ok(answers.map_err(fault)?.into_iter().map(reply).collect())
    }

    /// A separate connection for one command at a time, which may wait at the server; `None` over REST, which cannot wait.
    pub(super) async fn blocking_connection(&self) -> Result<Option<Self>, RedisFailure> {
        match self {
            Self::Standalone { client, .. } => Self::standalone(client, WAITING).await.map(Some),
            Self::Cluster { client, slot, .. } => {
                let config = ClusterConfig::new().set_connection_timeout(CONNECTING).set_response_timeout(WAITING);
                let connection = client.get_async_connection_with_config(config).await.map_err(fault)?;
                Ok(Some(Self::Cluster { client: client.clone(), connection, slot: *slot }))
            }
            Self::Rest(_) => Ok(None),
        }
    }

    /// Whether it uses Redis' own protocol.
    pub(super) fn is_native(&self) -> bool {
        !matches!(self, Self::Rest(_))
    }
}

fn primary(slot: Slot) -> SingleNodeRoutingInfo {
    SingleNodeRoutingInfo::SpecificNode(Route::with_slot(slot, SlotAddr::Master))
}

fn pipeline(commands: &[Command<'_>]) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    pipeline.ignore_errors();
    for command in commands {
        pipeline.add_command(packed(command));
    }
    pipeline
}

fn packed(command: &Command<'_>) -> Cmd {
    let mut packed = Cmd::new();
    for word in &command.0 {
        packed.arg(word.as_bytes());
    }
    packed
}

fn reply(value: Value) -> Result<Reply, RedisFailure> {
    match value {
        Value::Nil => Ok(Reply::Nothing),
        Value::Int(number) => Ok(Reply::Number(number)),
        Value::Okay => Ok(Reply::Text("OK".to_owned())),
        Value::Array(list) => list.into_iter().map(reply).collect::<Result<_, _>>().map(Reply::List),
        Value::ServerError(error) => Err(fault(error.into())),
        other => String::from_redis_value(other)
            .map(Reply::Text)
            .map_err(|error| RedisFailure::Unexpected(format!("its answer is not text: {error}"))),
    }
}

fn fault(error: RedisError) -> RedisFailure {
    if error.is_connection_refusal() {
        return RedisFailure::Unreachable(error.to_string());
    }
    if error.kind() == ErrorKind::AuthenticationFailed {
        return RedisFailure::refused("WRONGPASS it refuses this user and password");
    }
    match error.code() {
        Some(code) => RedisFailure::refused(&format!("{code} {}", error.detail().unwrap_or_default())),
        None if error.is_io_error() => RedisFailure::NoAnswer(error.to_string()),
        None => match error.detail() {
            Some(detail) => RedisFailure::refused(detail),
            None => RedisFailure::NoAnswer(error.to_string()),
        },
    }
}
