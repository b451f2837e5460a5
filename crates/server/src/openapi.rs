//! `/openapi.json`: the server as OpenAPI 3.1 describes it, made from the table of routes and the types that are sent.

use std::sync::OnceLock;

use holdfast_tracker::error::ErrorOutput;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::gatekeeper::SessionBody;
use crate::routes::{ROUTES, Route};

/// The description, as text.
pub(crate) fn text() -> String {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| document().to_string()).clone()
}

fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut given = settings.clone().for_serialize().into_generator();
    // What is taken may leave out what has a default, so it has another form.
    let mut taken = settings.for_deserialize().into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let entry = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(route.verb.name().to_lowercase(), operation(route, &mut given, &mut taken));
        }
    }
    let error = given.subschema_for::<ErrorOutput>();
    let session = taken.subschema_for::<SessionBody>();
    plain(&mut paths, &json!(session));
    let mut schemas = given.take_definitions(true);
    schemas.extend(taken.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "jit-server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Issues and claims of one repository. Every answer is what the command prints with --json.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Error": {
                    "description": "It was refused, or failed; spec/errors.md has the codes",
                    "content": { "application/json": { "schema": error } },
                },
            },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "jit-PORT" },
            },
        },
    })
}

fn operation(route: &Route, given: &mut SchemaGenerator, taken: &mut SchemaGenerator) -> Value {
    let part = |part: &str| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
    };
    let mut parameters: Vec<Value> = route.path.split('/').filter_map(part).collect();
    parameters.extend(route.query.iter().map(|(name, what)| {
        json!({ "name": name, "in": "query", "description": what, "schema": { "type": "string" } })
    }));
    let mut operation = json!({
        "summary": route.summary,
        "operationId": id(route),
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "The answer",
                "content": { "application/json": { "schema": (route.gives)(given) } },
            },
            "default": { "$ref": "#/components/responses/Error" },
        },
    });
    if let (Some(takes), Some(members)) = (route.takes, operation.as_object_mut()) {
        let content = json!({ "application/json": { "schema": takes(taken) } });
        members.insert("requestBody".into(), json!({ "required": true, "content": content }));
    }
    operation
}

/// A name for an operation: its words without what is between them.
fn id(route: &Route) -> String {
    let words = route.path.trim_start_matches("/api/").split(['/', '-']);
    let words: Vec<&str> = words.map(|word| word.trim_matches(['{', '}'])).collect();
    format!("{}_{}", route.verb.name().to_lowercase(), words.join("_"))
}

/// The paths that do not ask the tracker.
fn plain(paths: &mut Map<String, Value>, session: &Value) {
    let error = json!({ "$ref": "#/components/responses/Error" });
    let answer = |what: &str, kind: &str, schema: Value| json!({ "200": { "description": what, "content": { kind: { "schema": schema } } }, "default": error });
    let object = json!({ "type": "object" });
    let entries = [
        (
            "/healthz",
            "get",
            json!({
                "summary": "Whether what happens can be followed",
                "operationId": "get_healthz",
                "security": [],
                "responses": answer("It can", "application/json", object.clone()),
            }),
        ),
        (
            "/openapi.json",
            "get",
            json!({
                "summary": "This description",
                "operationId": "get_openapi",
                "responses": answer("The description", "application/json", object.clone()),
            }),
        ),
        (
            "/metrics",
            "get",
            json!({
                "summary": "What happened and how things stand, for Prometheus",
                "operationId": "get_metrics",
                "responses": answer("Metrics as text", "text/plain", json!({ "type": "string" })),
            }),
        ),
        (
            "/api/events",
            "get",
            json!({
                "summary": "What happens, as it happens: claim, issue, changed, anew, trouble and well",
                "operationId": "get_events",
                "parameters": [{
                    "name": "Last-Event-ID", "in": "header", "description": "Go on behind this event",
                    "schema": { "type": "string" },
                }, {
                    "name": "board", "in": "query", "schema": { "type": "string" },
                    "description": "Be told how the board changes as well, in events that are called board",
                }],
                "responses": answer("Server-sent events", "text/event-stream", json!({ "type": "string" })),
            }),
        ),
        (
            "/api/session",
            "post",
            json!({
                "summary": "Exchange the token for a cookie",
                "operationId": "post_session",
                "security": [],
                "requestBody": { "required": true, "content": { "application/json": { "schema": session } } },
                "responses": answer("The cookie is in Set-Cookie", "application/json", object),
            }),
        ),
    ];
    for (path, verb, operation) in entries {
        paths.insert(path.to_owned(), json!({ verb: operation }));
    }
}
