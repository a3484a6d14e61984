import { escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/format-count.ts';
import type { KeyDetails, KeyDocument, UsageDocument } from '../../runtime/gateway/keys.ts';
import { formatFields } from '../fields.ts';

/** A key in a list. */
export function rowOfKey({ id, name, status, models, hooks, expires_at }: KeyDocument): string[] {
  return [id, name, status, models?.join(',') ?? 'all', hooks ?? 'all', expires_at ?? 'never'];
}

/** A key and what it has used, for people. */
export function detailsText(details: KeyDetails): string {
  const { budget, secrets, usage } = details;
  const limit = (value: number | null, unit = '') => (value === null ? 'no limit' : `${value}${unit}`);
  const fields: [string, string][] = [
    ['id', details.id],
    ['name', details.name],
    ['status', details.status],
    ['models', details.models?.map(escapeInvisibleLine).join(', ') ?? 'all'],
    ['hooks', details.hooks === null ? 'all' : escapeInvisibleLine(details.hooks)],
    ['created', details.created_at],
    ['expires', details.expires_at ?? 'never'],
    ...(details.revoked_at === null ? [] : [['revoked', details.revoked_at] satisfies [string, string]]),
    ['requests', limit(details.requests_per_minute, ' a minute')],
    ['tokens', limit(details.tokens_per_minute, ' a minute')],
    ['concurrent', `${limit(details.concurrent)}, ${details.under_way} under way`],
    [
      'budget',
      `${limit(budget.day, ' $ a day')}, ${limit(budget.month, ' $ a month')}, ${limit(budget.total, ' $ in all')}`,
    ],
    ...secrets.map(({ begins, expires_at }): [string, string] => [
      'text',
      `${begins} until ${expires_at ?? 'the key ends'}`,
    ]),
    ...usage.map((each): [string, string] => [each.period, usageText(each)]),
  ];
  return formatFields(fields);
}

function usageText({ calls, input_tokens, output_tokens, cost, estimated }: UsageDocument): string {
  const unknown = estimated === 0 ? '' : `, ${estimated} of them by estimate`;
  return `${formatCount(calls, 'call')}${unknown}; ${input_tokens} tokens in, ${output_tokens} out; ${cost} $`;
}
