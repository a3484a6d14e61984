import { expect, test } from 'vitest';
import { isLoopbackName } from '../../../src/base/text/url.ts';
import { formatListen, parseListen } from '../../../src/config/listen.ts';

const hosts = {
  loopback: ['localhost', 'a.localhost', 'LOCALHOST', '127.0.0.1', '127.255.255.254', '::1'],
  other: [
    '0.0.0.0',
    '::',
    '::2',
    '1::1',
    'fe80::1',
    'localhost.example',
    '127.0.0.1.example',
    '10.0.0.1',
    '',
  ],
};

test.each(Object.entries(hosts))('%s: the same for an address, its URL and its HOST:PORT', (kind, names) => {
  for (const host of names) {
    const inUrl = host.includes(':') ? `[${host}]` : host;
    const forms = [
      host,
      inUrl,
      `${inUrl}:80`,
      formatListen({ host, port: 80 }),
      parseListen(`${inUrl}:80`)?.host,
    ];
    const found = forms.map((form) => isLoopbackName(form ?? ''));
    expect({ host, found }).toEqual({ host, found: forms.map(() => kind === 'loopback') });
  }
});
