// Coding clients in use against what `jit setup` writes: each lists and connects to `jit mcp`, and Claude Code works whole
// issues headless in linked worktrees, two at once: by tools alone, and by commands that each have a shell of their own.
// Its model is a stand-in on loopback that answers with scripted calls. JIT names the program; CLIENTS a folder where the
// clients are installed already. They weigh over a gigabyte, so this is for long runs only. What each client sends is kept
// below the folder that RECORD names, one file for each client; the default tests replay such files. Words on the command
// line choose the tests with one of them in their name.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const jit = process.env.JIT;
assert(jit, "JIT must name the program");
const clients = process.env.CLIENTS ?? installed();

function installed() {
  const folder = new URL("node_modules/.clients", import.meta.url).pathname;
  if (!existsSync(join(folder, "node_modules/.bin/opencode"))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const names = ["@anthropic-ai/claude-code", "@openai/codex", "opencode-ai"];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...names], { cwd: folder, stdio: "inherit" });
  }
  return folder;
}

/** What clients send, a file for each server that they start. */
const sent = realpathSync(mkdtempSync(join(tmpdir(), "sent-")));
const recorder = `#!/bin/sh\n[ "$1" = mcp ] || exec "${jit}" "$@"\ntee "${sent}/$$.jsonl" | "${jit}" "$@"\n`;

/** Keeps the longest session of each client under its name. */
function keep(folder) {
  const sessions = readdirSync(sent).map((name) => join(sent, name));
  sessions.sort((a, b) => readFileSync(a).length - readFileSync(b).length);
  for (const session of sessions) {
    const { params } = JSON.parse(readFileSync(session, "utf8").split("\n")[0]);
    copyFileSync(session, join(folder, `${params.clientInfo.name}.jsonl`));
  }
}

const program = (name) => join(clients, "node_modules/.bin", name);

/** A repository that is set up for all of them, with three issues and two worktrees: one knows whose it is, one does not. */
function repository() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "clients-")));
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin/jit"), recorder, { mode: 0o755 });
  const env = { PATH: `${join(root, "bin")}:${process.env.PATH}`, HOME: join(root, "home"), GIT_CONFIG_NOSYSTEM: "1" };
  mkdirSync(join(env.HOME, ".codex"), { recursive: true });
  for (const who of ["AUTHOR", "COMMITTER"]) Object.assign(env, { [`GIT_${who}_NAME`]: "t", [`GIT_${who}_EMAIL`]: "t@example.org" });
  const repo = join(root, "repo");
  const run = (name, args, cwd = repo) => execFileSync(name, args, { cwd, env, encoding: "utf8", timeout: 120_000 });
  run("git", ["init", "-q", "-b", "main", "repo"], root);
  run("git", ["commit", "-q", "--allow-empty", "-m", "first"]);
  run("jit", ["init", "-q"]);
  for (const client of ["claude", "codex", "opencode"]) run("jit", ["setup", client]);
  for (const title of ["one", "two", "three"]) run("jit", ["--agent-id", "person:me", "create", "--title", title]);
  run("jit", ["config", "set", "worktree.dir", ".."]);
  run("git", ["add", "."]);
  run("git", ["commit", "-qm", "set up"]);
  const trusted = [repo, join(root, "ann"), join(root, "bob")];
  writeFileSync(join(env.HOME, ".codex/config.toml"), trusted.map((at) => `[projects."${at}"]\ntrust_level = "trusted"\n`).join(""));
  writeFileSync(join(repo, ".git/info/exclude"), ".claude/settings.local.json\n");
  run("jit", ["worktree", "add", "ann", "--agent", "agent:ann"]);
  run("git", ["worktree", "add", "-q", "../bob"]);
  for (const at of trusted) writeFileSync(join(at, ".claude/settings.local.json"), '{"enableAllProjectMcpServers":true}\n');
  return { root, repo, env, run, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** A stand-in for the service of a model: its n-th turn is the n-th step of a script, or of the one that `script` gives. */
async function standIn(script) {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.method !== "POST" || !request.url.startsWith("/v1/messages") || request.url.includes("count_tokens")) {
      return response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":1}');
    }
    const question = JSON.parse(body);
    const isWork = (question.tools ?? []).length > 3;
    if (isWork) asked.push(body);
    const turn = question.messages.filter((message) => message.role === "assistant").length;
    const steps = !isWork ? [] : typeof script === "function" ? script(body, turn) : script;
    const step = steps[turn] || { text: "done" };
    const id = `${asked.length}-${turn}`;
    const block = step.tool ? { type: "tool_use", id: `toolu_${id}`, name: step.tool, input: {} } : { type: "text", text: "" };
    const delta = step.tool
      ? { type: "input_json_delta", partial_json: JSON.stringify(step.input) }
      : { type: "text_delta", text: step.text };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${id}`, type: "message", role: "assistant", model: question.model, content: [], usage };
    const stop = { stop_reason: step.tool ? "tool_use" : "end_turn", stop_sequence: null };
    const events = [
      ["message_start", { message }],
      ["content_block_start", { index: 0, content_block: block }],
      ["content_block_delta", { index: 0, delta }],
      ["content_block_stop", { index: 0 }],
      ["message_delta", { delta: stop, usage }],
      ["message_stop", {}],
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { asked, address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Codex in a worktree, headless; its model is a stand-in that says nothing but that it is done. */
async function codex(at, place) {
  const item = { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "done" }] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const events = [
    ["response.created", { response: { id: "r" } }],
    ["response.output_item.done", { item }],
    ["response.completed", { response: { id: "r", usage } }],
  ];
  const asked = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    asked.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join(""));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${server.address().port}/v1`;
  const provider = { name: "t", base_url: address, wire_api: "responses", env_key: "OPENAI_API_KEY" };
  const settings = Object.entries(provider).map(([key, value]) => `model_providers.t.${key}=${value}`);
  const words = ["exec", ...[...settings, "model_provider=t", "model=m"].flatMap((one) => ["-c", one]), "Work on an issue."];
  const running = promisify(execFile)(program("codex"), words, {
    cwd: join(at.root, place),
    env: { ...at.env, OPENAI_API_KEY: "made-up" },
    timeout: 180_000,
  });
  running.child.stdin.end();
  try {
    assert.match((await running).stdout, /done/);
    return asked;
  } finally {
    server.close();
  }
}

const bash = (command) => ({ tool: "Bash", input: { command, description: "work" } });

/** Claude Code in a worktree, headless, with this script; what its model was asked. */
async function claude(at, place, steps, name) {
  const model = await standIn(steps);
  const env = { ...at.env, ANTHROPIC_BASE_URL: model.address, ANTHROPIC_API_KEY: "made-up" };
  Object.assign(env, { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" });
  if (name) env.JIT_AGENT_ID = name;
  const tools = ["Bash", "mcp__jit__start", "mcp__jit__finish", "mcp__jit__note"];
  const words = ["-p", "Work on an issue.", "--output-format", "json", "--allowedTools", ...tools];
  const running = promisify(execFile)(program("claude"), words, { cwd: join(at.root, place), env, timeout: 180_000 });
  running.child.stdin.end();
  try {
    const { stdout } = await running;
    assert.equal(JSON.parse(stdout).result, "done", stdout);
    return model.asked;
  } finally {
    model.close();
  }
}

const byTools = (file) => [
  { tool: "mcp__jit__start", input: {} },
  { tool: "mcp__jit__note", input: { text: "what was found out" } },
  bash(`echo work > ${file}`),
  { tool: "mcp__jit__finish", input: { message: file } },
];

const byCommands = (file) => [bash("jit start"), bash(`jit status; echo work > ${file}`), bash(`jit finish -a -m ${file}`)];

/** Ends the client that this runs below, as its system would: it is the one that the guardian started. */
const killed = bash(
  "p=$$; while q=$(cut -d' ' -f4 /proc/$p/stat) && [ \"$(cat /proc/$q/comm)\" != jit ]; do p=$q; done; kill -9 $p",
);

/** A pool of Claude Code on six issues. One is killed on its first attempt, one gives up on its; what became of it. */
async function pool(at) {
  const titles = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"].map((name) => `Write ${name} down`);
  const create = ["--json", "--agent-id", "person:me", "create", "--label", "in:pool", "--title"];
  const made = titles.map((title) => JSON.parse(at.run("jit", [...create, title])).issue.handle);
  const begun = {};
  const model = await standIn((body, turn) => {
    // What others have landed may be in its first message, too.
    const title = titles[made.indexOf(body.match(/You work on issue (\w+)/)[1])];
    if (turn === 0) begun[title] = (begun[title] ?? 0) + 1;
    if (begun[title] === 1 && title === titles[1]) return [killed];
    if (begun[title] === 1 && title === titles[2]) return [];
    return [bash('cat "$JIT_BRIEFING" > "done-$JIT_ISSUE_HANDLE"')];
  });
  const env = { ...at.env, ANTHROPIC_BASE_URL: model.address, ANTHROPIC_API_KEY: "made-up" };
  Object.assign(env, { DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" });
  env.PATH = `${join(clients, "node_modules/.bin")}:${env.PATH}`;
  const words = ["--json", "dispatch", "-n", "3", "--drain", "--label", "in:pool", "--agent", "claude"];
  try {
    const args = [...words, "--agent-args", "--allowedTools Bash"];
    const { stdout } = await promisify(execFile)("jit", args, { cwd: at.repo, env, timeout: 600_000 });
    return { titles, begun, pool: JSON.parse(stdout).pool };
  } finally {
    model.close();
  }
}

/** What a question gives; nothing if it cannot be asked. */
function attempt(question) {
  try {
    return question();
  } catch {
    return undefined;
  }
}

const landed = (at, files) => assert.equal(at.run("git", ["ls-tree", "--name-only", "main", ...files]), `${files.join("\n")}\n`);

const tests = {
  async "Claude Code, Codex and opencode list and connect"(at) {
    assert.match(at.run(program("claude"), ["mcp", "list"]), /jit: jit mcp.*Connected/);
    assert.match(at.run(program("codex"), ["mcp", "list"]), /jit +jit +mcp .*enabled/);
    assert.match(at.run(program("opencode"), ["mcp", "list"]), /jit .*connected/);
  },
  async "Codex tells its model of the tools"(at) {
    const [asked] = await codex(at, "ann");
    for (const tool of ["start", "finish", "note"]) assert(asked.includes(`"${tool}"`), tool);
  },
  async "two of Claude Code at once, by tools alone"(at) {
    const [asked] = await Promise.all([claude(at, "ann", byTools("ann")), claude(at, "bob", byTools("bob"))]);
    assert(asked[0].includes("claims keep parallel agents apart"), "what prime says is in the first request");
    landed(at, ["ann", "bob"]);
  },
  async "Claude Code by commands, each in a shell of its own, beside one by tools"(at) {
    const [asked] = await Promise.all([
      claude(at, "ann", byCommands("ann")),
      claude(at, "bob", byTools("bob"), "agent:bob"),
    ]);
    assert(asked[0].includes("You are agent:ann"), "prime says who it is");
    landed(at, ["ann", "bob"]);
  },
  async "a pool of three of Claude Code, one killed on the way, one that gives up"(at) {
    const { titles, begun, pool: ended } = await pool(at);
    assert.deepEqual([ended.finished, ended.failed, ended.needs_attention], [6, 2, []], JSON.stringify(ended));
    assert.deepEqual(begun, Object.fromEntries(titles.map((title, number) => [title, [1, 2].includes(number) ? 2 : 1])));
    const subjects = at.run("git", ["log", "--format=%s", "main"]).split("\n");
    for (const title of titles) assert.equal(subjects.filter((subject) => subject === title).length, 1, title);
    assert.equal(at.run("git", ["ls-tree", "--name-only", "main"]).match(/^done-/gm).length, 6);
    assert.equal(at.run("git", ["worktree", "list"]).match(/pool-/g), null, "worktrees are left");
    assert.deepEqual(JSON.parse(at.run("jit", ["--json", "claim", "list"])).leases, [], "claims are left");
    const mine = (pid) => readFileSync(`/proc/${pid}/environ`, "utf8").includes(`\0HOME=${at.env.HOME}\0`);
    const left = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && attempt(() => mine(pid)));
    assert.deepEqual(left, [], "processes are left");
  },
};

/** All of them, or those with a word of the command line in their name. */
const words = process.argv.slice(2);
const chosen = Object.entries(tests).filter(([name]) => words.length === 0 || words.some((word) => name.includes(word)));
assert(chosen.length > 0, `no test has ${words.join(" or ")} in its name`);

let failed = 0;
for (const [name, test] of chosen) {
  const at = repository();
  try {
    await test(at);
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n${error.stack ?? error}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
  } finally {
    at.remove();
  }
}
if (process.env.RECORD) keep(process.env.RECORD);
rmSync(sent, { recursive: true });
const all = chosen.length;
console.log(`      Tests  ${failed > 0 ? `${failed} failed | ` : ""}${all - failed} passed (${all})`);
process.exitCode = failed > 0 ? 1 : 0;
