import { resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import type { AuditedCall } from '../../contract/decision.ts';
import type { AuditReport, KeptCall } from '../../runtime/gateway/audit.ts';
import { type CommandContext, command, group } from '../command.ts';
import { shortIds } from '../id.ts';
import { readAge, readWhole } from '../input.ts';
import { formatFields } from '../show/columns.ts';
import { openRowProgress } from '../show/row-progress.ts';

const database = {
  '--database <file>': 'read this copy of an audit.db instead of the audit of --config',
} as const;

const list = command('list', {
  about: 'show calls, newest first',
  options: {
    ...database,
    '--key <key>': 'only calls with this key, by its id or name',
    '--model <name>': 'only calls to this model',
    '--outcome <outcome>': [
      'only calls with this outcome',
      { choices: ['allowed', 'modified', 'denied', 'failed', 'aborted', 'refused'] },
    ],
    '--since <when>': 'only calls since a time, such as 2026-01-31, or within a duration, such as 1h',
    '--body <file>': 'only calls whose request or answer is exactly this',
    '--limit <number>': ['show at most this many', { default: '50' }],
  },
  examples: `
Examples:
  signalbox audit list
  signalbox audit list --key support --outcome denied --since 24h
  signalbox audit list --body request.json
  signalbox audit list --since 2026-01-31 --limit 100000 --json | jq '[.calls[].cost] | add'

Each line has the time (UTC), the HTTP status, the outcome, the endpoint, the model, the caller, the id, and the hook
that decided or changed something. \`audit verify\` checks that nobody changed the rows. More: docs/operate/gateway-audit.md`,
  run: async (context, { database, key, model, outcome, body, ...flags }) => {
    const limit = readWhole('--limit', flags.limit) ?? 50;
    const since = flags.since === undefined ? undefined : await readSince(flags.since);
    const { audit, located } = await findAudit(context, database);
    const digest = body === undefined ? undefined : await audit.digestOfFile(located, body);
    const rows = await audit.openAuditRows(located);
    try {
      const found = await rows.list({ key, model, outcome, since, digest, limit });
      const calls = found.map(audit.toAuditedCall);
      const short = shortIds(calls.map(({ id }) => id));
      return {
        document: { calls },
        table: {
          names: ['time', 'status', 'outcome', 'endpoint', 'model', 'caller', 'id', 'hook'],
          rows: calls.map(({ at, status, outcome, endpoint, model, caller, id, verdicts }) => {
            const hook = verdicts.findLast((verdict) => verdict.hook !== null)?.hook ?? '';
            const time = at.replace(/\.\d+Z$/, 'Z');
            return [time, String(status), outcome, endpoint, model, caller, short(id), hook];
          }),
          none: 'there are no such calls',
        },
      };
    } finally {
      await rows.close();
    }
  },
});

const show = command('show <id>', {
  about: 'show everything that was recorded of a call',
  options: database,
  examples: `
Examples:
  signalbox audit show req_5f0c
  signalbox audit show req_5f0c --json | jq '.verdicts[]'

A unique prefix of an id is enough. Digests are keyed: \`audit list --body FILE\` finds the calls of a body. The bodies
themselves are recorded if spec.gateway.audit.content is true.`,
  run: async (context, flags, id) => {
    const { audit, located } = await findAudit(context, flags.database);
    const rows = await audit.openAuditRows(located);
    try {
      const kept = oneOf(id, await rows.find(id, 6), located.file);
      const content = await rows.contentOf(kept);
      const call = audit.toAuditedCall(kept);
      const verdicts = call.verdicts.map(formatVerdict);
      const text = [
        formatFields(toFields(call)),
        ...(verdicts.length > 0 ? ['', ...verdicts] : []),
        ...(content === undefined ? [] : [formatContent(content)]),
      ].join('\n');
      return { document: { ...call, content: content ?? null }, text };
    } finally {
      await rows.close();
    }
  },
});

const verify = command('verify', {
  about: 'find rows that were changed, removed or inserted',
  options: {
    ...database,
    '--head <file>': 'signed heads that you stored elsewhere, one per line',
    '--public-key <file>': 'the public key, in PEM (default: audit.pub beside the database)',
  },
  examples: `
Examples:
  signalbox audit verify
  signalbox audit verify --head audit-head.json --public-key audit.pub
  signalbox audit verify --database evidence/audit.db --head heads.jsonl --public-key audit.pub

Without --head and --public-key, this command trusts the head and the key beside the database. Somebody who can write
there and has the private key can replace all three.

Exit codes: 0 good, 1 tampered, 2 cannot be verified.`,
  run: async (context, flags) => {
    const { terminal, signal } = context;
    const { audit, located } = await findAudit(context, flags.database);
    const pem = await audit.readPublicKeyOf(located, flags.publicKey);
    const publicKeys = audit.readPublicKeys(pem, flags.publicKey ?? 'audit.pub');
    const heads = flags.head === undefined ? [] : audit.readHeadFile(flags.head);
    const progress = openRowProgress(terminal);
    const report = await audit.verifyAudit(located, {
      ...{ publicKeys, heads, signal },
      onProgress: progress.show,
    });
    progress.end();
    return { document: report, text: reportText(report), exitCode: report.status === 'good' ? 0 : 1 };
  },
});

const head = command('head', {
  about: 'print the signed head of each chain, to store it elsewhere',
  options: database,
  examples: `
Examples:
  signalbox audit head >> /mnt/elsewhere/heads.jsonl`,
  run: async (context, flags) => {
    const { audit, located } = await findAudit(context, flags.database);
    const rows = await audit.openAuditRows(located);
    try {
      const heads = await rows.heads();
      if (heads.length === 0)
        throw new RuntimeError('STORE_FAILED', `the head of ${located.file} does not exist`);
      for (const each of heads) context.terminal.print(each);
      return 0;
    } finally {
      await rows.close();
    }
  },
});

const prune = command('prune', {
  about: 'remove old calls, and record the removal in the chain',
  options: { '--older-than <duration>': ['such as 12h or 30d; 0s removes all', { isRequired: true }] },
  examples: `
Examples:
  signalbox audit prune --older-than 90d

A server removes what is older than spec.gateway.audit.keep by itself. The chain gets a row about each removal, so
\`audit verify\` can tell it from rows that somebody else removed.`,
  run: async (context, { olderThan }) => {
    const age = await readAge('--older-than', olderThan);
    const { audit, located } = await findAudit(context, undefined);
    const pruned = await audit.pruneAudit(located, Date.now() - age);
    return { document: { pruned }, text: `removed ${formatCount(pruned, 'row')}` };
  },
});

export const auditCommands = group('audit', {
  about: 'show and verify the audit log of a gateway',
  givesVerdict: true,
  examples: `
Examples:
  signalbox audit list --outcome denied --since 1h
  signalbox audit show req_5f0c
  signalbox audit verify --head audit-head.json --public-key audit.pub`,
  commands: [list, show, verify, head, prune],
});

async function readSince(text: string): Promise<number> {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return Date.now() - (await readAge('--since', text));
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new RuntimeError('USAGE', `--since takes a time or a duration, not "${text}"`, {
    hint: 'Write it like 2026-01-31, 2026-01-31T12:00:00Z or 12h.',
  });
}

async function findAudit(
  { options, invocation }: Pick<CommandContext, 'options' | 'invocation'>,
  database: string | undefined,
) {
  const { loadAudit } = await import('../../runtime/runtime.ts');
  const audit = await loadAudit();
  const located =
    database === undefined
      ? await audit.locateAudit(options.config, invocation.env, options.overlays)
      : audit.auditIn(resolve(database));
  return { audit, located };
}

function oneOf(id: string, [call, ...others]: readonly KeptCall[], file: string): KeptCall {
  if (call === undefined) {
    throw new RuntimeError('RUN_UNKNOWN', `no call of ${file} has the id "${id}"`, {
      hint: '`signalbox audit list` shows the ids.',
    });
  }
  if (others.length === 0) return call;
  const some = [call, ...others].map((each) => each.id).join(', ');
  throw new RuntimeError('USAGE', `several ids begin with "${id}": ${some}`, {
    hint: 'Give more characters.',
  });
}

function toFields(call: AuditedCall): [string, string][] {
  const { times, usage, cost } = call;
  const line = escapeInvisibleLine;
  const cached = usage?.cached_input ? ` (${usage.cached_input} of the input cached)` : '';
  return [
    ['id', line(call.id)],
    ['row', call.chain === undefined ? String(call.seq) : `${call.seq} of chain ${line(call.chain)}`],
    ['time', call.at],
    ['outcome', `${line(call.outcome)} (HTTP ${call.status})`],
    ['caller', line(call.key_id === null ? call.caller : `${call.caller} (${call.key_id})`)],
    ['endpoint', `${line(call.endpoint)}${call.stream ? ', streamed' : ''}`],
    ['model', line(call.model)],
    ...toTurns(call),
    ['tokens', usage === null ? 'unknown' : `${usage.input} in, ${usage.output} out${cached}`],
    ['cost', cost === null ? 'unknown' : `$${cost}`],
    ['took', `${times.total} ms: ${times.hooks} in hooks, ${times.upstream} upstream`],
    ['request', line(call.request_digest)],
    ['answer', line(call.answer_digest ?? 'none')],
    ['hash', line(call.hash)],
  ];
}

function toTurns({ asked, provider }: AuditedCall): [string, string][] {
  if (asked === null) return [];
  const line = escapeInvisibleLine;
  return [
    ['asked', asked.length === 0 ? 'nobody' : asked.map(line).join(' → ')],
    ['answered', provider === null ? 'nobody' : line(provider)],
  ];
}

function formatVerdict({ phase, verdict, hook, reason }: AuditedCall['verdicts'][number]): string {
  const by = hook === null ? '' : ` by ${escapeInvisibleLine(hook)}`;
  const why = reason === '' ? '' : `: ${escapeInvisibleLine(reason)}`;
  return `${escapeInvisibleLine(phase)}: ${escapeInvisibleLine(verdict)}${by}${why}`;
}

function formatContent({ request, answer }: { readonly request: string; readonly answer: string }): string {
  return `\nrequest:\n${escapeInvisible(request)}\n\nanswer:\n${escapeInvisible(answer)}`;
}

function reportText(report: AuditReport): string {
  const { problems, rows, first, last, pruned, heads, chains } = report;
  const lines = problems.map(
    ({ message, id }) =>
      `${escapeInvisibleLine(message)}${id === null ? '' : ` (${escapeInvisibleLine(id)})`}`,
  );
  const removed = pruned === 0 ? '' : `, ${pruned} earlier rows removed by age`;
  const place = chains === undefined ? `${first} to ${last}` : `in ${chains.length} chains`;
  const span = rows === 0 ? 'no rows' : `${formatCount(rows, 'row')}, ${place}${removed}`;
  const kept = heads.compared === 0 ? '' : `, ${formatCount(heads.compared, 'head')} compared`;
  const old = heads.pruned === 0 ? '' : ` (${heads.pruned} for rows that have been removed)`;
  return [...lines, `${report.status}: ${span}${kept}${old}`].join('\n');
}
