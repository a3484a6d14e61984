import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { entropyOf } from './typed.ts';

/** Tokens with a vendor's prefix, JSON web tokens, and values after `Bearer`. */
export function* findApiKeys({ text }: Pick<ScannedText, 'text'>): Generator<Finding> {
  const found = (start: number, end: number): Finding => ({
    entity: 'API_KEY',
    start,
    end,
    isConfirmed: true,
  });
  for (const { 0: written, index } of text.matchAll(publishedKey)) yield found(index, index + written.length);
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

/** Whether `findApiKeys` may find something. Takes a microsecond for a short text. */
export function mayHoldApiKey(text: string): boolean {
  return text.search(publishedKey) !== -1 || otherKey.test(text);
}

const otherKey = /eyJ|bearer|basic/i;

function endOfWebToken(text: string, at: number): number | undefined {
  webTokenRest.lastIndex = at;
  const rest = webTokenRest.exec(text);
  return rest === null ? undefined : at + rest[0].length;
}

const webTokenRest = /\.(?:eyJ[\w-]+\.[\w-]*|\.[\w-]+\.[\w-]+\.[\w-]+|[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+)/y;

/**
 * Published formats of keys and tokens, shared by the filters for personal data and for secrets. Each pattern is a
 * prefix and bounded runs; only the last run is unbounded, so failed matches stay cheap.
 */
const shapes = [
  'sbx_[A-Za-z0-9]{40,}',
  'sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|lf-|helicone-)?[A-Za-z0-9_-]{20,}',
  'AIza[A-Za-z0-9_-]{35,}',
  'AQ\\.Ab[A-Za-z0-9_-]{30,}',
  'ABSK[A-Za-z0-9+/=]{109,140}',
  'bedrock-api-key-[A-Za-z0-9+/=_-]{40,}',
  'gsk_[A-Za-z0-9]{40,}',
  'xai-[A-Za-z0-9]{40,}',
  'pplx-[A-Za-z0-9]{40,}',
  'csk-[a-z0-9]{40,}',
  'fw_[A-Za-z0-9]{22,}',
  'tgp_v1_[A-Za-z0-9_-]{40,}',
  'nvapi-[A-Za-z0-9_-]{40,}',
  'hf_[A-Za-z0-9]{30,}',
  'r8_[A-Za-z0-9]{30,}',
  'jina_[A-Za-z0-9]{40,}',
  'pcsk_[A-Za-z0-9_]{40,}',
  'tvly-[A-Za-z0-9-]{20,}',
  'fc-[a-f0-9]{32}(?![a-f0-9])',
  'e2b_[a-f0-9]{40}',
  'llx-[A-Za-z0-9]{40,}',
  'bb_(?:live|test)_[A-Za-z0-9_-]{20,}',
  'wandb_v\\d_[A-Za-z0-9_]{40,}',
  'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}',
  'sk_[0-9a-f]{48}(?![0-9a-f])',
  '[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,28}(?![A-Za-z0-9])',
  'gh[pousr]_[A-Za-z0-9]{36,}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'gl(?:pat|dt|rt|ptt|cbt|soat|oas|ft|imt|ffct|agent)-[A-Za-z0-9_.-]{20,}',
  'npm_[A-Za-z0-9]{36,}',
  'pypi-[A-Za-z0-9_-]{50,}',
  'rubygems_[0-9a-f]{48}',
  'cio[A-Za-z0-9]{32}(?![A-Za-z0-9])',
  'oy2[a-z0-9]{43}(?![a-z0-9])',
  'CLOJARS_[a-z0-9]{60}',
  'AKCp[A-Za-z0-9]{69}',
  'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}',
  'CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}',
  'bkua_[a-f0-9]{40}',
  'sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}',
  'ATATT3[A-Za-z0-9_=-]{40,}',
  'AT(?:CT|BB|ST)T?3?[A-Za-z0-9_=-]{28,220}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}',
  'LTAI[A-Za-z0-9]{17,24}(?![A-Za-z0-9])',
  'AKID[A-Za-z0-9]{32}',
  '[A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34}',
  'ya29\\.[A-Za-z0-9_-]{20,}',
  'GOCSPX-[A-Za-z0-9_-]{20,}',
  'do[opr]_v1_[a-f0-9]{64}',
  'cf(?:k|ut|at)_[A-Za-z0-9_-]{36,}',
  'v1\\.0-[0-9a-f]{24}-[0-9a-f]{146}',
  'vc[pikar]_[A-Za-z0-9]{24,}',
  'HRKU-[A-Za-z0-9_-]{36,64}',
  'rnd_[A-Za-z0-9]{28,}',
  'fm[12][a-z]?_[A-Za-z0-9+/=_,-]{40,}',
  'nfp_[A-Za-z0-9]{36}',
  'dapi[a-f0-9]{32}',
  'sb_secret_[A-Za-z0-9_-]{31,60}',
  'sbp_[a-f0-9]{40}',
  'napi_[a-z0-9]{60,}',
  'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}',
  'hv[sbr]\\.[A-Za-z0-9_-]{24,}',
  '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{60,80}',
  'pul-[0-9a-f]{40}',
  'pnu_[A-Za-z0-9]{36}',
  'tskey-[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{24,48}',
  'dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}',
  'ops_eyJ[A-Za-z0-9+/=]{200,1000}',
  'AGE-SECRET-KEY-1[A-Z0-9]{50,}',
  '[srp]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=]{16,}',
  'sq0[a-z]{3}-[A-Za-z0-9_-]{22,}',
  'EAAA[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9_-])',
  'EZ[AT]K[0-9A-Za-z]{54}',
  'shp(?:at|ca|pa|ss|tka|ua)_[a-fA-F0-9]{32}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,}',
  'xapp-[A-Za-z0-9-]{10,}',
  '(?<=hooks\\.slack\\.com/(?:services|workflows|triggers)/)[A-Za-z0-9]{6,20}/[A-Za-z0-9]{6,20}/[A-Za-z0-9]{16,40}',
  '(?<=discord(?:app)?\\.com/api/webhooks/)\\d{17,20}/[A-Za-z0-9_-]{60,80}',
  '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}',
  '\\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])',
  'SG\\.[A-Za-z0-9_.-]{40,}',
  'SK[0-9a-f]{32}(?![0-9a-f])',
  'key-[0-9a-f]{32}(?![0-9a-f])',
  're_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}',
  'xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}',
  '[0-9a-f]{32}-us\\d{1,2}(?!\\w)',
  'lin_(?:api|oauth)_[A-Za-z0-9]{32,}',
  'figd_[A-Za-z0-9_-]{32,}',
  'ntn_[A-Za-z0-9]{40,}',
  'secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])',
  'pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}',
  'PMAK-[0-9a-f]{24}-[0-9a-f]{34}',
  'NRAK-[A-Z0-9]{27}',
  'gls?a_[A-Za-z0-9]{32}_[0-9a-f]{8}',
  'glc_[A-Za-z0-9+/=]{32,400}',
  'sntry[su]_[A-Za-z0-9+/=_]{40,400}',
  'CFPAT-[A-Za-z0-9_-]{43}',
  'sl\\.[A-Za-z0-9_-]{130,}',
  'phx_[A-Za-z0-9]{43,60}',
  'tfp_[A-Za-z0-9_.=-]{59}',
  'rdme_[a-z0-9]{70}',
];

const publishedKey = new RegExp(`(?<![A-Za-z0-9])(?:${shapes.join('|')})`, 'g');
