export interface TextType {
  /** `open`: only the bytes can tell. */
  readonly isText: 'yes' | 'no' | 'open';
  readonly charset: string | undefined;
}

export function readTextType(mediaType: string): TextType {
  const [type = '', ...parameters] = mediaType.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*["']?([^"'\s]+)/.exec(parameter)?.[1])
    .find((name) => name !== undefined);
  return { isText: judgeType(type.trim()), charset };
}

function judgeType(type: string): TextType['isText'] {
  const [top = '', sub = ''] = type.split('/');
  if (top === 'text' || top === 'message' || top === 'multipart') return 'yes';
  if (/\+(?:json|xml|yaml|json-seq)$/.test(sub)) return 'yes';
  if (['image', 'audio', 'video', 'font'].includes(top)) return 'no';
  if (top !== 'application') return 'open';
  if (textual.has(sub.replace(/^x-/, ''))) return 'yes';
  return binary.test(sub) ? 'no' : 'open';
}

const textual: ReadonlySet<string> = new Set([
  ...['json', 'json5', 'jsonc', 'jsonl', 'jsonlines', 'json-lines', 'json-seq', 'ndjson', 'geojson'],
  ...['xml', 'xml-dtd', 'xml-external-parsed-entity', 'yaml', 'yml', 'toml', 'ini', 'properties', 'hcl'],
  ...[
    'csv',
    'tsv',
    'tab-separated-values',
    'sql',
    'graphql',
    'sparql-query',
    'sparql-update',
    'www-form-urlencoded',
  ],
  ...[
    'javascript',
    'ecmascript',
    'typescript',
    'python',
    'perl',
    'ruby',
    'php',
    'httpd-php',
    'powershell',
    'lua',
  ],
  ...['sh', 'csh', 'bash', 'zsh', 'shellscript', 'bat', 'makefile', 'dockerfile', 'awk', 'tcl', 'r'],
  ...['tex', 'latex', 'bibtex', 'texinfo', 'troff', 'postscript', 'rtf', 'markdown', 'subrip', 'srt', 'ass'],
  ...['n-triples', 'n-quads', 'trig', 'turtle', 'mbox', 'edifact', 'edi-x12', 'edi-consent', 'ldif'],
  ...['pem-file', 'pem-certificate-chain', 'pgp-signature', 'pgp-keys', 'diff', 'patch', 'log'],
]);

/** Binary formats that may look like text. */
const binary =
  /^(?:pdf|zip|gzip|x-(?:tar|gzip|bzip2?|xz|7z-compressed|rar-compressed)|wasm|vnd\.(?:openxmlformats|oasis|ms-)\b.*)/;
