import { createHash } from 'node:crypto';
import { RuntimeError } from '../../base/errors.ts';
import type { NotifyConfig, RuntimeConfig } from '../../config/config.ts';
import { usualLimits } from '../../config/exec.ts';
import type { HostEnv } from '../../process/env.ts';
import { openHttp } from '../../process/http.ts';
import { openUnpooled } from '../../process/open.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { Transport } from '../../process/transport.ts';
import { type NoticeEvent, type NoticeRule, noticeEvents } from '../../store/outbox.ts';
import { resolveEntry } from '../binding/resolve.ts';

/** Somebody who is told of runs. */
export interface Target {
  /** Of its declaration: the same on every machine, and another one when that is changed. */
  readonly id: string;
  readonly name: string;
  readonly events: readonly NoticeEvent[];
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
  /** Rejects when the document was not taken. */
  tell(body: string, signal: AbortSignal): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The targets of a config. Nothing is started. */
export function openTargets(
  config: RuntimeConfig,
  { host, process }: { readonly host: HostEnv; readonly process: ProcessContext },
): Target[] {
  return (config.notify ?? []).map((entry) => {
    const { name, exec, url, on, headers } = entry;
    const timeoutMs = entry.timeoutMs ?? usualLimits.hookTimeoutMs;
    const about = {
      id: idOf(entry, config),
      name,
      timeoutMs,
      events: noticeEvents.filter((each) => on.includes(each)),
    };
    if (exec !== undefined) {
      const { binding } = resolveEntry({ name, capability: 'hook', exec, timeoutMs }, config, host);
      return { ...about, secrets: binding.secrets, ...teller(openUnpooled(binding, process), name) };
    }
    const endpoint = { name, url: url ?? '', headers, timeoutMs, maxOutputBytes: MOST_ANSWER_BYTES };
    return { ...about, secrets: [], ...teller(openHttp(endpoint), name) };
  });
}

/** What a server says beside its status is not read. */
const MOST_ANSWER_BYTES = 1_000_000;

export function rulesOf(targets: readonly Target[]): NoticeRule[] {
  return targets.flatMap(({ id, events }) => events.map((event) => ({ target: id, event })));
}

function idOf({ exec, url }: NotifyConfig, { name }: RuntimeConfig): string {
  const what = JSON.stringify([name, exec?.command, exec?.args, url]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

function teller(transport: Transport, name: string): Pick<Target, 'tell' | 'close'> {
  return {
    tell: async (body, signal) => {
      const reply = await transport.exchange({ method: 'notify', body }, signal);
      if (reply.via !== 'process') return;
      const { httpStatus, exitCode, signal: killedBy } = reply;
      if (httpStatus === undefined ? exitCode === 0 : httpStatus >= 200 && httpStatus < 300) return;
      const how =
        httpStatus === undefined
          ? `ended with ${exitCode === null ? `signal ${killedBy}` : `exit code ${exitCode}`}`
          : `answered with status ${httpStatus}`;
      throw new RuntimeError('TOOL_ERROR', `"${name}" ${how}`);
    },
    close: () => transport.close(),
  };
}
