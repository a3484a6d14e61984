import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * The libraries behind the finders, each loaded when a text first holds something for it: a one-shot process
 * that meets no phone number does not wait for the numbering plans of the world.
 */
export const libraries = {
  isLuhnNumber: once<Luhn>(() => require('validator/lib/isLuhnNumber.js').default),
  isIban: once<Iban>(() => require('validator/lib/isIBAN.js').default),
  phones: once<Phones>(() => require('libphonenumber-js/max')),
  domains: once<Domains>(() => require('tldts')),
  language: once<Language>(() => require('compromise/two').default ?? require('compromise/two')),
};

type Luhn = typeof import('validator/lib/isLuhnNumber.js')['default'];
type Iban = typeof import('validator/lib/isIBAN.js')['default'];
type Phones = typeof import('libphonenumber-js/max');
type Domains = typeof import('tldts');
type Language = typeof import('compromise/two')['default'];

function once<Value>(load: () => Value): () => Value {
  let loaded: { readonly value: Value } | undefined;
  return () => {
    loaded ??= { value: load() };
    return loaded.value;
  };
}
