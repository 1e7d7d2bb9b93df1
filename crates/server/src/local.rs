//! Calls without a server: what a board answers in the same process, without a socket.

use std::io;

use axum::{Router, body::Body};
use bytes::Bytes;
use callboard_engine::Board;
use futures::{TryStreamExt, stream::BoxStream};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use crate::{Error, Settings, app::App, drivers::Driving, openapi, router::routes};

/// The pieces of a body, as they come.
pub type Pieces = BoxStream<'static, io::Result<Bytes>>;

/// Answers calls on a board as a server would, to the user and to nobody else: who has the board in hand may all, so
/// that neither hosts and origins nor tokens are asked for.
///
/// It touches only the sessions that are called for. Runs that others left behind are not taken up.
#[derive(Clone)]
pub struct Local {
    app: App,
    routes: Router,
}

/// Which runs a [`Local`] drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Those that a call starts or resumes, until [`Local::close`].
    Runs,
    /// None. They wait until somebody drives them.
    Nothing,
}

impl Local {
    /// What answers calls on `board`. Of the settings, those of the network mean nothing here.
    pub fn new(board: Board, settings: Settings, drive: Drive) -> Result<Self, Error> {
        let driving = match drive {
            Drive::Runs => Driving::Started,
            Drive::Nothing => Driving::None,
        };
        let settings = Settings { user_tokens: Vec::new(), ..settings };
        let app = App::new(board, settings, true, driving, || openapi().to_string())?;
        Ok(Self { routes: routes(&app), app })
    }

    /// Answers a call as the user's.
    pub async fn call(&self, request: http::Request<Pieces>) -> http::Response<Pieces> {
        let service = TowerToHyperService::new(self.routes.clone());
        let Ok(response) = service.call(request.map(Body::from_stream)).await;
        response.map(|body| -> Pieces { Box::pin(body.into_data_stream().map_err(io::Error::other)) })
    }

    /// Ends it in order: streams end, models are asked no longer, and then the board closes. Runs that were driven can
    /// be taken up by whoever comes next.
    pub async fn close(&self) {
        self.app.closing.cancel();
        self.app.drivers.ended().await;
        self.app.board.close().await;
    }
}
