//! Calls without a network: a board in the same process answers them.

use axum::Router;
use callboard_engine::Board;
use callboard_mcp::Pieces;

use crate::{Error, Settings, app::App, direct::answered, driving::Driving, openapi, router::routes};

/// Answers calls on a board as a server would. Every call is the user's: whoever has the board has all rights, so tokens, hosts
/// and origins are not checked.
///
/// Only sessions that calls name are touched. Runs that others have left are not driven.
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
    /// None. They wait until somebody else drives them.
    Nothing,
}

impl Local {
    /// Answers calls on `board`. Settings of the network are ignored.
    pub fn new(board: Board, settings: Settings, drive: Drive) -> Result<Self, Error> {
        let driving = match drive {
            Drive::Runs => Driving::Started,
            Drive::Nothing => Driving::None,
        };
        let settings = Settings { user_tokens: Vec::new(), ..settings };
        let app = App::new(board, settings, None, driving, || openapi().to_string())?;
        Ok(Self { routes: routes(&app), app })
    }

    /// Answers a call of the user.
    pub async fn call(&self, request: http::Request<Pieces>) -> http::Response<Pieces> {
        answered(self.routes.clone(), request).await
    }

    /// Ends it in order: streams end, models are asked no more, then the board closes. Somebody else can drive the runs
    /// on.
    pub async fn close(&self) {
        self.app.closing.cancel();
        // Before leases are released, so that nobody else takes an execution for one that was left.
        self.app.executions.ended().await;
        self.app.drivers.ended().await;
        if let Some(browsers) = &self.app.browsers {
            browsers.ended().await;
        }
        self.app.board.close().await;
    }
}
