// The site of the tests: the package's own folder, so that the browser loads the files that ship.

export interface Site {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the package's own folder, or this one. */
export async function serve(root?: string): Promise<Site> {
  // A script that the demo and the benchmark use too; it is not TypeScript, because it runs as it is.
  const script = new URL('../../../scripts/serve.mjs', import.meta.url).href;
  const { serve } = (await import(/* @vite-ignore */ script)) as { serve: (port?: number, root?: string) => Promise<Site> };
  return serve(0, root);
}
