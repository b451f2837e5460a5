// Official clients against `jit mcp`: whole sessions in every revision that they offer, two at once, and the
// inspector's command line. They judge our messages by their own schemas. JIT names the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as Modern } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as Session } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as SessionStdio } from "@modelcontextprotocol/sdk/client/stdio.js";

const jit = process.env.JIT;
assert(jit, "JIT must name the program");

/** A repository with two worktrees and some issues, and nobody's settings but its own. */
function repository() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "mcp-")));
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  for (const who of ["AUTHOR", "COMMITTER"]) {
    env[`GIT_${who}_NAME`] = "t";
    env[`GIT_${who}_EMAIL`] = "t@example.org";
  }
  const repo = join(root, "repo");
  const run = (program, args, cwd = repo) => execFileSync(program, args, { cwd, env, encoding: "utf8" });
  run("git", ["init", "-q", "-b", "main", "repo"], root);
  run("git", ["commit", "-q", "--allow-empty", "-m", "first"]);
  run(jit, ["init", "-q"]);
  for (const title of ["one", "two", "three"]) run(jit, ["--agent-id", "person:me", "issue", "create", "--title", title]);
  run("git", ["add", "."]);
  run("git", ["-c", "core.hooksPath=/dev/null", "commit", "-qm", "issues"]);
  run("git", ["worktree", "add", "-q", "../a"]);
  run("git", ["worktree", "add", "-q", "../b"]);
  return { root, repo, env, run, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** One whole issue: every kind of tool, and what the client itself checks. */
async function day(client, place, name) {
  const { tools } = await client.listTools();
  assert(tools.length === 8 && JSON.stringify(tools).length <= 6000);
  const call = async (tool, args = {}) => {
    const result = await client.callTool({ name: tool, arguments: { worktree: place, ...args } });
    assert(!result.isError, JSON.stringify(result));
    return result.structuredContent;
  };
  const begun = await call("start");
  assert.equal(begun.worktree, place);
  assert.equal((await call("start")).already_held, true);
  assert((await call("status")).claims.some((claim) => claim.issue_id === begun.issue));
  assert((await call("show", { issue: begun.handle })).from_others.issue.title);
  assert.equal((await call("note", { text: `found out by ${name}` })).issue, begun.issue);
  writeFileSync(join(place, name), "work\n");
  const done = await call("finish", { issue: begun.issue, fence: begun.fence, message: name });
  assert.equal(done.status, "landed", JSON.stringify(done));
  const refused = await client.callTool({ name: "finish", arguments: { worktree: place } });
  assert(refused.isError && refused.content[0].text.includes("next:"), JSON.stringify(refused));
  await call("create", { title: `after ${name}` });
  assert((await call("list")).count >= 1);
  return begun.issue;
}

const server = (at, cwd) => ({ command: jit, args: ["mcp"], cwd, env: { ...at.env, JIT_AGENT_ID: "agent:trial" } });

async function modern(mode, at, place) {
  const client = new Modern({ name: "trial", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new ModernStdio(server(at, place)));
  return client;
}

async function session(at, place) {
  const client = new Session({ name: "trial", version: "1" });
  await client.connect(new SessionStdio(server(at, place)));
  return client;
}

const tests = {
  async "client 2, without sessions"(at) {
    const client = await modern({ pin: "2026-07-28" }, at, join(at.root, "a"));
    await day(client, join(at.root, "a"), "modern");
    await client.close();
  },
  async "client 2, the revision that it finds"(at) {
    const client = await modern("auto", at, join(at.root, "a"));
    await day(client, join(at.root, "a"), "auto");
    await client.close();
  },
  async "client 2, with a session"(at) {
    const client = await modern("legacy", at, join(at.root, "a"));
    await day(client, join(at.root, "a"), "legacy");
    await client.close();
  },
  async "client 1, with a session"(at) {
    const client = await session(at, join(at.root, "a"));
    await client.ping();
    await day(client, join(at.root, "a"), "session");
    await client.close();
  },
  async "two clients at once take different issues, and both land"(at) {
    const [a, b] = [join(at.root, "a"), join(at.root, "b")];
    const clients = await Promise.all([session(at, a), modern({ pin: "2026-07-28" }, at, b)]);
    const [one, two] = await Promise.all([day(clients[0], a, "one"), day(clients[1], b, "two")]);
    assert.notEqual(one, two);
    assert.equal(at.run("git", ["ls-tree", "--name-only", "main", "one", "two"]), "one\ntwo\n");
    await Promise.all(clients.map((client) => client.close()));
  },
  async "the inspector lists and calls"(at) {
    const cli = new URL("node_modules/@modelcontextprotocol/inspector-cli/build/index.js", import.meta.url).pathname;
    const inspect = (...args) => JSON.parse(at.run(process.execPath, [cli, jit, "mcp", ...args]));
    assert(inspect("--method", "tools/list").tools.length === 8);
    const status = inspect("--method", "tools/call", "--tool-name", "status");
    assert.equal(status.structuredContent.issues, 3);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  const at = repository();
  try {
    await test(at);
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n${error.stack ?? error}`);
  } finally {
    at.remove();
  }
}
const all = Object.keys(tests).length;
console.log(`      Tests  ${failed > 0 ? `${failed} failed | ` : ""}${all - failed} passed (${all})`);
process.exitCode = failed > 0 ? 1 : 0;
