import { isUtf8 } from 'node:buffer';
import { RuntimeError } from '../base/errors.ts';
import { isJson } from '../base/json/parse.ts';
import { waitForSettled } from '../base/time/deadline.ts';
import type { Binding } from '../process/binding.ts';
import { acquireWatcher } from '../process/launch/process-groups.ts';
import { closedError } from '../process/oneshot.ts';
import { type ProcessContext, startProcess } from '../process/process.ts';
import { isPlainlyNoJson } from '../process/server/json-rpc.ts';
import { describeSessionEnd, waitForSessionEnd } from '../process/server/session.ts';
import { createLineSplitter, readInTurns } from '../process/stream-reader.ts';
import type { ChannelHandlers, UpstreamChannel } from './channel.ts';

/** Starts the program. A line is a message; lines that are not JSON are dropped. Throws PROCESS_START. */
export async function openStdioChannel(
  binding: Binding,
  context: ProcessContext,
  { onText, onClose }: ChannelHandlers,
): Promise<UpstreamChannel> {
  const { name, maxOutputBytes, graceMs } = binding;
  const { emit, scrubber } = context;
  const releaseWatcher = acquireWatcher((reason) => {
    const message = `its process would keep running if this one were killed: there is no watcher (${reason})`;
    emit({ type: 'note', name, level: 'warn', message });
  });
  const child = await startProcess(binding, context, null).catch(async (error: unknown) => {
    await releaseWatcher();
    throw error;
  });
  let isClosing = false;
  let fault: RuntimeError | undefined;
  let isEnded = false;
  const drop = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    const detail = `not JSON: ${(scrubber?.text(text) ?? text).slice(0, SHOWN_CHARACTERS)}`;
    emit({ type: 'dropped', name, what: 'noise', detail });
  };
  const lines = createLineSplitter(
    { maxBytes: maxOutputBytes, prefixBytes: 0 },
    {
      onLine: (bytes, start, end) => {
        const line = bytes.subarray(start, end);
        const text = isUtf8(line) && !isPlainlyNoJson(line) ? line.toString() : '';
        if (isEnded || fault !== undefined || line.length === 0) return;
        if (text !== '' && isJson(text)) onText(text);
        else drop(line);
      },
      // The message may have been the answer to any request, so none can be waited for.
      onLongLine: () => {
        fault ??= new RuntimeError(
          'OUTPUT_LIMIT',
          `MCP server "${name}" sent a message of more than ${maxOutputBytes} bytes, and was stopped`,
        );
        void child.terminate();
      },
    },
  );
  // Calls have timeouts, whose timers keep Node alive.
  child.keepAlive(false);
  readInTurns(child.stdout(), lines.push);
  child.stdin?.on('error', () => {});
  const closed = waitForSessionEnd(binding, child, () => isClosing).then(async (ended) => {
    lines.end();
    fault ??= await describeSessionEnd(binding, child, ended);
    isEnded = true;
    child.release();
    await releaseWatcher();
    onClose?.(isClosing ? undefined : fault);
  });
  return {
    closed,
    send: async (text) => {
      const { stdin } = child;
      if (isClosing) throw closedError(name);
      if (fault !== undefined) throw fault;
      if (stdin === null) throw new RuntimeError('INTERNAL', `"${name}" was started without a stdin`);
      if (stdin.writableLength > maxOutputBytes) {
        const message = `MCP server "${name}" has not read ${stdin.writableLength} bytes of earlier messages`;
        throw new RuntimeError('SERVER_BUSY', message);
      }
      // In JSON, line breaks stand between tokens only.
      stdin.write(`${text.replaceAll(/[\r\n]+/g, ' ')}\n`);
    },
    close: async () => {
      isClosing = true;
      child.keepAlive(true);
      child.stdin?.end();
      if (!(await waitForSettled(child.ended, graceMs))) await child.terminate();
      await closed;
    },
  };
}

const SHOWN_CHARACTERS = 200;
