import { createRandom } from '../../build/injection/random.ts';

const alphabets: Readonly<Record<string, string>> = {
  A: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  B: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  U: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  '2': 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  l: 'abcdefghijklmnopqrstuvwxyz0123456789',
  x: '0123456789abcdef',
  d: '0123456789',
};

/** Key formats as published by their vendors: `{A36}` is 36 characters of an alphabet. */
const formats: Readonly<Record<string, string>> = {
  'GitHub, classic': 'ghp_{A36}',
  'GitHub, fine-grained': 'github_pat_{A22}_{A59}',
  'GitHub, app': 'ghs_{A36}',
  GitLab: 'glpat-{A20}',
  'AWS access key': 'AKIA{216}',
  'Google API': 'AIza{A35}',
  'Google OAuth': 'ya29.{A80}',
  'Slack bot': 'xoxb-{d12}-{d13}-{A24}',
  'Slack webhook': 'https://hooks.slack.com/services/T{U10}/B{U10}/{A24}',
  'Discord webhook': 'https://discord.com/api/webhooks/{d18}/{A68}',
  'Telegram bot': '{d10}:AA{A33}',
  'Stripe live': 'sk_live_{A24}',
  'OpenAI project': 'sk-proj-{A48}',
  Anthropic: 'sk-ant-api03-{A93}AA',
  'Hugging Face': 'hf_{A34}',
  npm: 'npm_{A36}',
  PyPI: 'pypi-AgEIcHlwaS5vcmc{A80}',
  RubyGems: 'rubygems_{x48}',
  SendGrid: 'SG.{A22}.{A43}',
  Mailgun: 'key-{x32}',
  Mailchimp: '{x32}-us12',
  Twilio: 'SK{x32}',
  Shopify: 'shpat_{x32}',
  DigitalOcean: 'dop_v1_{x64}',
  Databricks: 'dapi{x32}',
  Postman: 'PMAK-{x24}-{x34}',
  'New Relic': 'NRAK-{U27}',
  Grafana: 'glsa_{A32}_{x8}',
  Sentry: 'sntryu_{x64}',
  Doppler: 'dp.pt.{A43}',
  Pulumi: 'pul-{x40}',
  Terraform: '{A14}.atlasv1.{A67}',
  Vault: 'hvs.{A90}',
  PlanetScale: 'pscale_tkn_{A43}',
  Supabase: 'sbp_{x40}',
  Airtable: 'pat{A14}.{x64}',
  Notion: 'ntn_{A46}',
  Linear: 'lin_api_{A40}',
  Tailscale: 'tskey-auth-{A17}-{A32}',
  LangSmith: 'lsv2_pt_{x32}_{x10}',
  Groq: 'gsk_{A52}',
  Replicate: 'r8_{A37}',
  'Azure client secret': '{A3}8Q~{A34}',
  'Alibaba Cloud': 'LTAI{A20}',
  Docker: 'dckr_pat_{A27}',
  Figma: 'figd_{A40}',
  'JSON web token': 'eyJ{A33}.eyJ{A60}.{A43}',
};

/** Random values without a vendor prefix. */
const unmarked: Readonly<Record<string, string>> = {
  'unmarked, 32 letters and digits': '{A32}',
  'unmarked, 40 of base64': '{B40}',
  'unmarked, 64 hexadecimal digits': '{x64}',
};

/** Texts that surround a key. */
const places: readonly ((key: string) => string)[] = [
  (key) => `Here it is: ${key} - thanks!`,
  (key) => `export SERVICE_VALUE="${key}"\necho done`,
  (key) => JSON.stringify({ id: 7, value: key, note: 'do not share' }),
  (key) => `curl -H 'X-Service: ${key}' https://api.example.org/v1/items`,
  (key) => `| name | value |\n| --- | --- |\n| service | \`${key}\` |`,
];

/** Texts with one key each, by format. The texts are the same in every run. */
export function keyTexts(which: 'published' | 'unmarked'): ReadonlyMap<string, readonly string[]> {
  const random = createRandom(2026);
  const rows = Object.entries(which === 'published' ? formats : unmarked);
  return new Map(
    rows.map(([name, format]) => [
      name,
      Array.from({ length: 20 }, (_, index) => places[index % places.length]?.(fill(format, random)) ?? ''),
    ]),
  );
}

function fill(format: string, random: () => number): string {
  return format.replaceAll(/\{(.)(\d+)\}/g, (_, name: string, count: string) => {
    const alphabet = alphabets[name] ?? '';
    return Array.from({ length: Number(count) }, () => alphabet[Math.floor(random() * alphabet.length)]).join(
      '',
    );
  });
}
