#!/usr/bin/env node
// Runs the jit that was installed for this machine. There is no install script: npm chooses the package with the
// programs by its `os` and `cpu`.
'use strict';

const { spawn } = require('node:child_process');

const name = `@holdfast/jit-${process.platform}-${process.arch}`;

function find() {
  try {
    return require.resolve(`${name}/bin/jit`);
  } catch {
    process.stderr.write(
      `error: ${name} is not installed: there is no build for this machine, or npm left out optional packages\n` +
        'hint: npm install --include=optional @holdfast/jit\n',
    );
    process.exit(127);
  }
}

function fail(program, why) {
  process.stderr.write(`error: cannot start ${program}: ${why.message}\n`);
  process.exit(126);
}

/** Where this process cannot become the other one, it passes on what it is sent, and ends as the other one ends. */
function beside(program, words) {
  // What is typed at a terminal reaches both processes; sent once more, it would count twice.
  const typed = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  let child;
  // Listened to before there is anything to pass it on to: what comes in between waits for the end of this function.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    const reachesBoth = typed && (signal === 'SIGINT' || signal === 'SIGQUIT');
    process.on(signal, () => reachesBoth || child.kill(signal));
  }
  child = spawn(program, words, { stdio: 'inherit' });
  child.on('error', (why) => fail(program, why));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = find();
const words = process.argv.slice(2);
if (typeof process.execve === 'function') {
  try {
    process.execve(program, [program, ...words], process.env);
  } catch (why) {
    fail(program, why);
  }
} else {
  beside(program, words);
}
