import { expect, test } from 'vitest';
import { toFault } from '../../../src/base/errors.ts';
import { createProviderError, toProviderError } from '../../../src/models/provider-error.ts';
import { canary } from '../../canary.ts';

const peer = { id: 'main', secrets: [canary] };

function networkError(code: string, message = ''): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
}

const failures = [
  {
    title: 'a refused connection to two addresses',
    thrown: networkError('ECONNREFUSED'),
    fault: { code: 'PROVIDER_FAILED', says: 'failed: the connection failed: ECONNREFUSED', retryable: true },
  },
  {
    title: 'a connection that is not made in time',
    thrown: networkError('UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error'),
    fault: {
      code: 'PROVIDER_FAILED',
      says: 'failed: the connection failed: Connect Timeout Error (UND_ERR_CONNECT_TIMEOUT)',
      retryable: true,
    },
  },
  {
    title: 'a name that nobody has',
    thrown: networkError('ENOTFOUND', 'getaddrinfo ENOTFOUND nowhere.invalid'),
    fault: {
      code: 'PROVIDER_FAILED',
      says: 'failed: the connection failed: getaddrinfo ENOTFOUND nowhere.invalid',
      retryable: false,
    },
  },
  ...['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].map((code) => ({
    title: `the network’s own ${code}`,
    thrown: networkError(code, 'Timeout Error'),
    fault: { code: 'PROVIDER_TIMEOUT', says: `was silent for too long (${code})`, retryable: undefined },
  })),
  {
    title: 'a text with a key in it',
    thrown: `no ${canary} here`,
    fault: { code: 'PROVIDER_FAILED', says: 'failed: no [redacted] here', retryable: false },
  },
  {
    title: 'nothing that could be told',
    thrown: { message: '' },
    fault: { code: 'PROVIDER_FAILED', says: 'failed: no reason was given', retryable: false },
  },
];

test.each(failures)('$title is reported', ({ thrown, fault }) => {
  const { code, message, details } = toFault(toProviderError(thrown, peer));
  expect({ code, message, retryable: details?.['retryable'] }).toStrictEqual({
    code: fault.code,
    message: `provider "main" ${fault.says}`,
    retryable: fault.retryable,
  });
});

test('an existing failure is unchanged', () => {
  const failure = createProviderError('main', { message: 'once' });
  expect(toProviderError(failure, peer)).toBe(failure);
});
