import { expect, test } from 'vitest';
import { configText, native, told } from './told.ts';

test('private hosts are names, addresses and networks', () => {
  const { config, problems } = told(
    configText(native, '\nprivate_hosts: ["*.corp.example", 10.0.0.0/8, "fd00::/8"]'),
  );
  expect(problems).toEqual([]);
  expect(config?.privateHosts).toEqual(['*.corp.example', '10.0.0.0/8', 'fd00::/8']);
});

test.each(['http://corp.example', 'corp.example:443', '10.0.0.0/33', '"[::1]"', 'corp.example/8'])(
  '`%s` is an error',
  (entry) => {
    const { config, problems } = told(configText(native, `\nprivate_hosts: [${entry}]`));
    expect(config).toBeUndefined();
    expect(problems.join('\n')).toMatch(/it is not the name of a host, an address or a network/);
  },
);

test.each([
  ['{type: client_credentials, client_id: a, client_secret: b}', /needs `issuer`/],
  ['{type: login, client_id: a, client_secret: b}', /needs `issuer`/],
  ['{type: cross_app_access, client_id: a, client_secret: b, issuer: "https://id.example"}', /needs `idp`/],
])('a secret without the server that may receive it is an error: %s', (auth, says) => {
  const server = `{name: a, url: "https://a.example/mcp", auth: ${auth}}`;
  const { problems } = told(configText(native, `\nmcp_servers: [${server}]`));
  expect(problems.join('\n')).toMatch(says);
});
