import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { entropyOf } from './entropy.ts';

/** Keys and tokens that their makers mark with a prefix, JSON web tokens, and what follows `Bearer`. */
export function* findApiKeys({ text }: ScannedText): Generator<Finding> {
  const found = (start: number, end: number): Finding => ({
    entity: 'API_KEY',
    start,
    end,
    isConfirmed: true,
  });
  for (const { 0: written, index } of text.matchAll(prefixed)) yield found(index, index + written.length);
  for (const { 0: head, index } of text.matchAll(/eyJ[\w-]+/g)) {
    const end = endOfWebToken(text, index + head.length);
    if (end !== undefined) yield found(index, end);
  }
  for (const match of text.matchAll(/\b(?:bearer|basic)[ \t]{1,4}([\w.~+/=-]{16,})/gi)) {
    const [whole, token = ''] = match;
    const end = match.index + whole.length;
    if (entropyOf(token) >= 3) yield found(end - token.length, end);
  }
}

/** Each pattern is a prefix and one run of characters, so that a failed attempt costs no more than its prefix. */
const shapes = [
  'sk-(?:ant-|proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}',
  '[srp]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=]{16,}',
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_.-]{20,}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}',
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  'npm_[A-Za-z0-9]{36}',
  'hf_[A-Za-z0-9]{30,}',
  'pypi-[A-Za-z0-9_-]{50,}',
  'SG\\.[A-Za-z0-9_.-]{40,}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'do[opr]_v1_[a-f0-9]{64}',
  'dapi[a-f0-9]{32}',
  'gsk_[A-Za-z0-9]{40,}',
  'r8_[A-Za-z0-9]{30,}',
  'pplx-[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'tvly-[A-Za-z0-9-]{20,}',
  'nvapi-[A-Za-z0-9_-]{40,}',
  'ATATT3[A-Za-z0-9_=-]{40,}',
  'lin_api_[A-Za-z0-9]{32,}',
  'figd_[A-Za-z0-9_-]{32,}',
  'ntn_[A-Za-z0-9]{40,}',
  'dckr_pat_[A-Za-z0-9_-]{20,}',
  'hvs\\.[A-Za-z0-9_-]{24,}',
  'sq0[a-z]{3}-[A-Za-z0-9_-]{22,}',
  'AGE-SECRET-KEY-1[A-Z0-9]{50,}',
];
const prefixed = new RegExp(`(?<![A-Za-z0-9])(?:${shapes.join('|')})`, 'g');

/** The end of a token whose first part ends here: a payload of JSON, and a signature, which may be empty. */
function endOfWebToken(text: string, at: number): number | undefined {
  webTokenRest.lastIndex = at;
  const rest = webTokenRest.exec(text);
  return rest === null ? undefined : at + rest[0].length;
}

const webTokenRest = /\.(?:eyJ[\w-]+\.[\w-]*|\.[\w-]+\.[\w-]+\.[\w-]+|[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+)/y;
