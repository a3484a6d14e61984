import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * The finders' libraries, loaded on first use, so that a short-lived process does not load the world's numbering plans
 * needlessly.
 */
export const libraries = {
  isLuhnNumber: once<Luhn>(() => require('validator/lib/isLuhnNumber.js').default),
  isIban: once<Iban>(() => require('validator/lib/isIBAN.js').default),
  phones: once<Phones>(() => require('libphonenumber-js/max')),
  domains: once<Domains>(() => require('tldts')),
  language: once<Language>(() => require('compromise/two').default ?? require('compromise/two')),
};

export const idValidators = {
  auTfn: validator(() => require('stdnum/lib/cjs/au/tfn.js')),
  brCnpj: validator(() => require('stdnum/lib/cjs/br/cnpj.js')),
  brCpf: validator(() => require('stdnum/lib/cjs/br/cpf.js')),
  caSin: validator(() => require('stdnum/lib/cjs/ca/sin.js')),
  cnResidentId: validator(() => require('stdnum/lib/cjs/cn/ric.js')),
  deTaxId: validator(() => require('stdnum/lib/cjs/de/idnr.js')),
  esNie: validator(() => require('stdnum/lib/cjs/es/nie.js')),
  esNif: validator(() => require('stdnum/lib/cjs/es/nif.js')),
  frNir: validator(() => require('stdnum/lib/cjs/fr/nir.js')),
  inAadhaar: validator(() => require('stdnum/lib/cjs/in/aadhaar.js')),
  inPan: validator(() => require('stdnum/lib/cjs/in/pan.js')),
  itFiscalCode: validator(() => require('stdnum/lib/cjs/it/codicefiscale.js')),
  krRrn: validator(() => require('stdnum/lib/cjs/kr/rrn.js')),
  nlBsn: validator(() => require('stdnum/lib/cjs/nl/bsn.js')),
  plPesel: validator(() => require('stdnum/lib/cjs/pl/pesel.js')),
};

/** Checksum validators by the names that user-defined patterns use. */
export const checksums = once(() => {
  const library: typeof import('stdnum/lib/cjs/util/checksum.js') = require('stdnum/lib/cjs/util/checksum.js');
  const isNumber = (digits: string) => /^\d{2,40}$/.test(digits);
  return {
    luhn: (digits: string) => isNumber(digits) && libraries.isLuhnNumber()(digits),
    mod97: (compact: string) => /^[A-Z\d]{3,40}$/.test(compact) && library.mod97base10Validate(compact),
    mod11_10: (digits: string) => isNumber(digits) && library.mod11mod10Validate(digits),
    verhoeff: (digits: string) => isNumber(digits) && library.verhoeffValidate(digits),
  };
});

type Luhn = typeof import('validator/lib/isLuhnNumber.js')['default'];
type Iban = typeof import('validator/lib/isIBAN.js')['default'];
type Phones = typeof import('libphonenumber-js/max');
type Domains = typeof import('tldts');
type Language = typeof import('compromise/two')['default'];
type StandardNumber = typeof import('stdnum/lib/cjs/es/nif.js');

function validator(load: () => StandardNumber): () => (compact: string) => boolean {
  return once(() => {
    const { validate } = load();
    return (compact) => validate(compact).isValid;
  });
}

function once<Value>(load: () => Value): () => Value {
  let loaded: { readonly value: Value } | undefined;
  return () => {
    loaded ??= { value: load() };
    return loaded.value;
  };
}
