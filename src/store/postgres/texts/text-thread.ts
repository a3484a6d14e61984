import { workerData } from 'node:worker_threads';
import { toFault } from '../../../base/errors.ts';
import type { TextPlace } from '../../kept-text.ts';
import type { Row } from '../../sqlite/row.ts';
import { encodeText } from '../../sqlite/row.ts';
import { connect, type Link } from '../connection/client.ts';
import { isLostConnection, toPostgresError } from '../connection/postgres-error.ts';
import type { TextReply, TextRequest, TextThreadData } from './text-reader.ts';

// The thread of `text-reader.ts`: receives places of texts, and answers each with its row.

const { address, port, count }: TextThreadData = workerData;
let link: Link | undefined;

async function read({ runId, step, number }: TextPlace): Promise<Row | undefined> {
  if (link?.isLost()) link = undefined;
  link ??= await connect(address);
  const [row] = await link.query({
    name: 'text',
    text: 'SELECT step, text, sum FROM signalbox.texts WHERE run_id = $1 AND step = $2 AND number = $3',
    values: [runId, encodeText(step), number],
  });
  return row;
}

async function answer({ number, place }: TextRequest): Promise<TextReply> {
  try {
    // Retried, because the connection may have been lost while idle.
    const row = await read(place).catch((error: unknown) => {
      if (!isLostConnection(error)) throw error;
      link = undefined;
      return read(place);
    });
    return { number, row };
  } catch (error) {
    return { number, fault: toFault(toPostgresError(error, address)) };
  }
}

port.on('message', async (request: TextRequest) => {
  port.postMessage(await answer(request));
  Atomics.add(count, 0, 1);
  Atomics.notify(count, 0);
});
