import type { Group, GroupResult } from '../group.ts';
import { type Call, calls, secret } from './endpoints.ts';
import { openServed, type Told } from './served.ts';
import { sound, upstreamFaults } from './talks.ts';

const after = (does: string) =>
  `#!/bin/sh\nif cat | grep -q '"after_call"'; then\n${does}\nelse echo '{"allow": true}'; fi\n`;
const always = (does: string) => `#!/bin/sh\ncat > /dev/null\n${does}\n`;

const hookFaults: readonly { readonly title: string; readonly does: string; readonly isDenial?: true }[] = [
  { title: 'exits with 1', does: 'exit 1' },
  { title: 'exits with 2', does: 'exit 2' },
  { title: 'allows and exits with 1', does: `echo '{"allow": true}'; exit 1` },
  { title: 'is killed', does: 'kill -9 $$' },
  { title: 'allows and is killed', does: `echo '{"allow": true}'; kill -9 $$` },
  { title: 'hangs', does: 'sleep 600' },
  { title: 'prints nothing', does: ':' },
  { title: 'prints junk', does: 'echo ready' },
  { title: 'prints two verdicts', does: `echo '{"allow": true}'; echo '{"allow": true}'` },
  { title: 'allows in a word', does: `echo '{"allow": "true"}'` },
  { title: 'floods', does: 'yes' },
  { title: 'replaces with nothing', does: `echo '{"allow": true, "replace": {}}'` },
  { title: 'denies', does: `echo '{"allow": false, "reason": "no"}'`, isDenial: true },
];

const limits = 'command: ./guard.sh, timeout_ms: 700, max_output_bytes: 65536';

export const hooksAtEndpoints: Group = {
  name: 'filters of the gateway',
  every: 41,
  async *run(isChosen) {
    let at = 0;
    for (const { title, does, isDenial } of hookFaults)
      for (const side of ['before', 'after'] as const) {
        const cells = calls
          .filter(({ isJudgedAfter }) => side === 'before' || isJudgedAfter)
          .filter(() => isChosen(at++));
        if (cells.length === 0) continue;
        await using served = await openServed(limits, side === 'before' ? always(does) : after(does));
        for (const call of cells) {
          const told = await attempt(() => served.call(call, sound));
          const row = `gateway: a filter ${title}, ${side} the call`;
          yield judge(row, call, told, (it) =>
            whyPassed(it, { side, code: isDenial ? 'content_filter' : 'guard_failed' }),
          );
        }
      }
  },
};

export const upstreamsAtEndpoints: Group = {
  name: 'upstreams of the gateway',
  every: 37,
  async *run(isChosen) {
    let at = 0;
    await using served = await openServed(limits.replace('700', '20000'), always(`echo '{"allow": true}'`));
    for (const { title, talk, isHarmless } of upstreamFaults)
      for (const call of calls) {
        if (!isChosen(at++)) continue;
        const told = await attempt(() => served.call(call, talk));
        // Without text, a cut or damaged answer may still be complete.
        const isWhole = isHarmless === true && !call.isJudgedAfter;
        yield judge(`gateway: an upstream ${title}`, call, told, (it) =>
          isWhole ? undefined : whyTold(it, call),
        );
      }
  },
};

type Attempt = Told | Error;

async function attempt(work: () => Promise<Told>): Promise<Attempt> {
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function judge(
  row: string,
  { title }: Call,
  told: Attempt,
  problem: (told: Told) => string | undefined,
): GroupResult {
  if (told instanceof Error) return { row, word: 'HUNG', problem: `${title} | ${told.message}` };
  const found = told.text.includes(secret) ? 'it tells what it must not' : problem(told);
  return {
    row,
    word: `${told.status}`,
    problem: found && `${found} | ${title} | ${told.status} ${told.text.slice(0, 600)}`,
  };
}

/** 503 guard_failed for a failure, 400 for a denial, or an error inside a stream that has begun. */
function whyPassed(
  { status, text, wasAsked }: Told,
  { side, code }: { readonly side: 'before' | 'after'; readonly code: string },
): string | undefined {
  if (side === 'before' && wasAsked) return 'the upstream was asked';
  if (status === 200) return text.includes(code) ? undefined : `it does not say ${code}`;
  const expected = code === 'guard_failed' ? 503 : 400;
  return status === expected && text.includes(code) ? undefined : `it should be ${expected} ${code}`;
}

function whyTold({ status, text }: Told, { isStream }: Call): string | undefined {
  if (status >= 400) return undefined;
  return isStream && /"error"|\[cut\]/.test(text) ? undefined : 'it should be an error';
}
