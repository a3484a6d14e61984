import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { LOCAL_USER } from '../client.ts';
import { openLines, type StdioOptions } from '../stdio.ts';
import { openConnection, type ProxyParts } from './connection.ts';
import { type Id, type Response, readProxied } from './message.ts';

export interface ProxiedStdio {
  /** Resolves when the client has left, or the upstream has ended. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Connects one client over stdio with its own connection to the upstream. Throws as `upstreams.channel`. */
export async function proxyStdio(
  parts: ProxyParts,
  { session, ...streams }: StdioOptions & { readonly session?: string | undefined },
): Promise<ProxiedStdio> {
  const { runtime, server, report } = parts;
  const connection = openConnection(parts, { id: LOCAL_USER, session, mayCall: () => true });
  const answers = new Set<Promise<void>>();
  /** Requests of the proxy itself. */
  const own = new Map<Id, Pick<PromiseWithResolvers<Response>, 'resolve' | 'reject'>>();
  // Each direction keeps the order of notifications; a request or an answer overtakes none.
  let [up, down] = [Promise.resolve(), Promise.resolve()];

  const channel = await runtime.upstreams.channel(server, {
    onText: (text) => {
      const message = readProxied(Buffer.from(text));
      if (message.kind === 'refused') {
        const { id, error } = message.reply;
        report(`MCP server ${server}: dropped a message: ${error.message}`);
        if (id !== null) connection.fail(unreadable(server, error.message), id);
      } else if (message.kind === 'response') {
        const before = down;
        const asking = own.get(message.id);
        void before.then(async () => {
          if (asking === undefined) await connection.settle(message);
          else asking.resolve(message);
        });
      } else {
        down = down.then(async () => {
          const { toClient, toServer } = await connection.fromServer(message);
          if (toClient !== undefined) await lines.write(toClient);
          if (toServer !== undefined) await send(toServer);
        });
      }
    },
    onClose: (fault) => {
      const cause = toRuntimeError(fault ?? new Error('it has ended'));
      connection.fail(cause);
      for (const { reject } of own.values()) reject(cause);
      void Promise.all(answers).then(() => lines.close());
    },
  });
  // A closed channel has already failed what is open.
  const send = async (text: string) => await channel.send(text).catch(() => {});

  const receive = (line: Uint8Array) => {
    const message = readProxied(line);
    if (message.kind === 'refused') void lines.write(JSON.stringify(message.reply));
    else if (message.kind === 'request') {
      const before = up;
      const sendNext = async (text: string) => {
        await before;
        await channel.send(text);
      };
      const ask = (text: string, id: Id) => {
        const { promise, ...asking } = Promise.withResolvers<Response>();
        own.set(id, asking);
        void sendNext(text).catch(asking.reject);
        return promise.finally(() => own.delete(id));
      };
      const answer = connection.begin(message, { send: sendNext, ask }).then(async ({ text, reason }) => {
        if (reason !== 'cancelled') await lines.write(text);
      });
      answers.add(answer);
      void answer.then(() => answers.delete(answer));
    } else {
      const judged = connection.fromClient(message);
      up = up.then(async () => {
        const text = await judged;
        if (text !== undefined) await send(text);
      });
    }
  };
  const lines = openLines(streams, {
    onLine: receive,
    answered: async () => void (await Promise.all(answers)),
  });
  lines.start();
  return {
    closed: lines.closed,
    close: async () => {
      lines.close();
      await channel.close();
    },
  };
}

function unreadable(server: string, what: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', `the answer of MCP server "${server}" cannot be read: ${what}`);
}
