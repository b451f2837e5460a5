// Talking to tabs past the driver: each opens a socket and does what it is asked to through that. For a browser whose driver
// gives up all tabs when the process of one of them dies.

import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

interface Answer {
  readonly value?: unknown;
  readonly error?: string;
}

/** One tab's end. Its page may be loaded anew, and has another socket then. */
export class Line {
  #socket: WebSocket | undefined;
  #opened: Promise<void>;
  #open!: () => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #ids = 0;

  constructor() {
    this.#opened = this.#closed();
  }

  use(socket: WebSocket): void {
    this.#socket = socket;
    this.#open();
    socket.on('message', (data) => {
      const { id, ...answer } = JSON.parse(String(data)) as Answer & { id: number };
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
    });
    // Closing follows, and is what counts: a process that is killed says nothing more.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#opened = this.#closed();
      for (const tell of this.#waiting.values()) tell({ error: 'the page has gone' });
      this.#waiting.clear();
    });
  }

  /** What the expression comes to in the page, which is waited for if it is still being loaded. */
  async run(expression: string): Promise<unknown> {
    await this.#opened;
    const id = (this.#ids += 1);
    const { value, error } = await new Promise<Answer>((tell) => {
      this.#waiting.set(id, tell);
      this.#socket?.send(JSON.stringify({ id, expression }));
    });
    if (error !== undefined) throw new Error(error);
    return value;
  }

  #closed(): Promise<void> {
    return new Promise((open) => (this.#open = open));
  }
}

export class Courier {
  readonly #server: WebSocketServer;
  readonly #lines: Line[] = [];

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket, { url = '' }) => this.#lines[Number(url.slice(1))]?.use(socket));
  }

  static async start(): Promise<Courier> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise((listening, failed) => server.once('listening', listening).once('error', failed));
    return new Courier(server);
  }

  /** A line for another tab, and what its address has to name. */
  line(): { line: Line; address: string } {
    const line = new Line();
    const { port } = this.#server.address() as AddressInfo;
    return { line, address: `ws://127.0.0.1:${port}/${this.#lines.push(line) - 1}` };
  }

  async stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((closed) => this.#server.close(closed));
  }
}
