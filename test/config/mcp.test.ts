import { expect, test } from 'vitest';
import { consoleUrlOf } from '../../src/config/mcp.ts';
import { configText, native, told } from './told.ts';

const jwks = 'jwks_url: https://id.example.com/jwks';

test.each([
  ['public_url: tools.example.com', /public_url: must /],
  ['public_url: "https://"', /it is not a URL/],
  ['public_url: http://tools.example.com/mcp', /http is allowed to this machine only/],
  ['public_url: https://tools.example.com/mcp?x=1', /it has a query or a fragment/],
  ['public_url: https://u:p@tools.example.com/mcp', /it contains a user or a password/],
  [
    'auth: {issuer: https://id.example.com}',
    /issuer: `issuer` and `jwks_url` belong together \| Set both, or neither/,
  ],
  [`auth: {${jwks}}`, /jwks_url: `issuer` and `jwks_url` belong together/],
  ['auth: {audience: x}', /`audience` needs an `issuer`/],
  [
    'auth: {issuer: https://id.example.com, jwks_url: http://169.254.169.254/keys}',
    /http is allowed to this machine only/,
  ],
  [
    'auth: {issuer: http://id.example.com, jwks_url: https://id.example.com/jwks}',
    /http is allowed to this machine only/,
  ],
  ['auth: {issuer: https://id.example.com, jwks_url: file:///etc/passwd}', /jwks_url: must /],
  [`auth: {${jwks}, isuer: https://id.example.com}`, /isuer: unknown key \| did you mean `issuer`/],
])('`%s` is an error', (keys, says) => {
  const { config, problems } = told(configText(native, `\nmcp:\n  ${keys}`));
  expect(config).toBeUndefined();
  expect(problems.join('\n')).toMatch(says);
});

test('http is allowed to this machine, and a query only in the address of the keys', () => {
  const auth = 'auth: {issuer: http://localhost:8080, jwks_url: "http://127.0.0.1:8080/jwks?tenant=a"}';
  const { config, problems } = told(
    configText(native, `\nmcp:\n  public_url: http://[::1]:8788/mcp\n  ${auth}`),
  );
  expect(problems).toEqual([]);
  expect(config?.mcp).toMatchObject({
    publicUrl: 'http://[::1]:8788/mcp',
    auth: { issuer: 'http://localhost:8080' },
  });
});

test.each([
  ['public_url: http://ops.example.com/console', /http is allowed to this machine only/],
  ['public_url: https://ops.example.com/console#x', /it has a query or a fragment/],
  ['public_url: https://ops.example.com', /its path does not end with its only `\/console`/],
  ['public_url: https://ops.example.com/team/', /its path does not end/],
  ['public_url: https://ops.example.com/consoles', /its path does not end/],
  ['public_url: https://ops.example.com/console/inbox', /its path does not end/],
  ['public_url: https://ops.example.com/console/team/console', /its path does not end/],
  ['listen: localhost', /listen: must be HOST:PORT/],
  ['listen: "127.0.0.1:70000"', /listen: must be HOST:PORT with a port from 0 to 65535/],
  ['port: 8789', /port: unknown key/],
])('`%s` is an error of the console', (keys, says) => {
  const { config, problems } = told(configText(native, `\nconsole:\n  ${keys}`));
  expect(config).toBeUndefined();
  expect(problems.join('\n')).toMatch(says);
});

test.each([
  ['{}', undefined],
  ['{listen: "127.0.0.1:0"}', undefined],
  ['{listen: "[::1]:9000"}', 'http://[::1]:9000/console'],
  [
    '{listen: "127.0.0.1:9000", public_url: https://ops.example.com/console/}',
    'https://ops.example.com/console',
  ],
])('links of console: %s lead to %s', (keys, url) => {
  const { config } = told(configText(native, `\nconsole: ${keys}`));
  expect(config && consoleUrlOf(config.console)).toBe(url);
});
