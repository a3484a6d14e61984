import { serveRuntimes } from '../../../src/runtime/gateway/serve.ts';
import { openRuntime } from '../../../src/runtime/open-runtime.ts';
import { writeConfig } from '../open-gateway.ts';

/** A gateway that listens on loopback. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves a RuntimeConfig with that `spec`. */
export async function serveTestGateway(
  spec: string,
  files: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const file = writeConfig(spec, files);
  const served = await serveRuntimes({
    open: async () => await openRuntime(file, { log: false }),
    listen: '127.0.0.1:0',
    print: () => {},
  });
  return {
    url: served.url,
    [Symbol.asyncDispose]: async () => {
      await served.close();
    },
  };
}
