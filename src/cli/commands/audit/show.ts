import type { Command } from 'commander';
import { RuntimeError } from '../../../base/errors.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../../base/text/escape-invisible.ts';
import type { KeptCall } from '../../../runtime/gateway/audit.ts';
import type { RunCommand } from '../../command.ts';
import { formatFields } from '../../fields.ts';
import { addDatabaseOption, findAudit, timeOf, toDocument } from './list.ts';

/** `audit show`. */
export function addAuditShow(group: Command, runCommand: RunCommand): void {
  addDatabaseOption(group.command('show <id>').description('show what was recorded of a call'))
    .addHelpText('after', examples)
    .action(async (id: string, flags: { readonly database?: string }, command: Command) => {
      await runCommand(command, async (context) => {
        const { options, terminal } = context;
        const { audit, located } = await findAudit(context, flags.database);
        const rows = await audit.openAuditRows(located);
        try {
          const call = oneOf(id, await rows.find(id, 6), located.file);
          const content = await rows.contentOf(call);
          if (options.json) terminal.printJson({ ...toDocument(call), content: content ?? null });
          else {
            terminal.print(formatFields(toFields(call)));
            if (call.verdicts.length > 0) terminal.print('');
            for (const verdict of call.verdicts) terminal.print(formatVerdict(verdict));
            if (content !== undefined) terminal.print(formatContent(content));
          }
          return 0;
        } finally {
          await rows.close();
        }
      });
    });
}

/** Throws RUN_UNKNOWN when there is none, USAGE when several begin so. */
function oneOf(id: string, [call, ...others]: readonly KeptCall[], file: string): KeptCall {
  if (call === undefined) {
    throw new RuntimeError('RUN_UNKNOWN', `no call of ${file} has the id "${id}"`, {
      hint: '`signalbox audit list` shows ids.',
    });
  }
  if (others.length === 0) return call;
  const some = [call, ...others].map((each) => each.id).join(', ');
  throw new RuntimeError('USAGE', `"${id}" begins several ids: ${some}`, { hint: 'Give more of it.' });
}

function toFields(call: KeptCall): [string, string][] {
  const { times, usage, cost } = call;
  const line = escapeInvisibleLine;
  const cached = usage?.cached_input ? ` (${usage.cached_input} of the input cached)` : '';
  return [
    ['id', line(call.id)],
    ['row', call.chain === undefined ? String(call.seq) : `${call.seq} of chain ${line(call.chain)}`],
    ['time', timeOf(call.at)],
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

/** Who was asked and who answered, unless the row is one of a version that did not keep it. */
function toTurns({ asked, provider }: KeptCall): [string, string][] {
  if (asked === null) return [];
  const line = escapeInvisibleLine;
  return [
    ['asked', asked.length === 0 ? 'nobody' : asked.map(line).join(' → ')],
    ['answered', provider === null ? 'nobody' : line(provider)],
  ];
}

function formatVerdict({ phase, verdict, hook, reason }: KeptCall['verdicts'][number]): string {
  const by = hook === null ? '' : ` by ${escapeInvisibleLine(hook)}`;
  const why = reason === '' ? '' : `: ${escapeInvisibleLine(reason)}`;
  return `${escapeInvisibleLine(phase)}: ${escapeInvisibleLine(verdict)}${by}${why}`;
}

function formatContent({ request, answer }: { readonly request: string; readonly answer: string }): string {
  return `\nrequest:\n${escapeInvisible(request)}\n\nanswer:\n${escapeInvisible(answer)}`;
}

const examples = `
Examples:
  signalbox audit show req_5f0c
  signalbox audit show req_5f0c --json | jq '.verdicts[]'

An id may be cut short as long as it is still the only one that begins like this. Digests are keyed: \`audit list --body FILE\`
finds the calls of a body. The bodies themselves are there where spec.gateway.audit.content is true.`;
