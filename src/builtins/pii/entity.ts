type EntityRow = readonly [singular: string, plural: string, isDefault: boolean, region?: string];

const entities = {
  CREDIT_CARD: ['credit card', 'credit cards', true],
  IBAN_CODE: ['IBAN', 'IBANs', true],
  US_SSN: ['social security number', 'social security numbers', true, 'US'],
  US_ITIN: ['US taxpayer number', 'US taxpayer numbers', true, 'US'],
  US_PASSPORT: ['US passport number', 'US passport numbers', true, 'US'],
  US_MBI: ['Medicare beneficiary number', 'Medicare beneficiary numbers', true, 'US'],
  US_NPI: ['US provider number', 'US provider numbers', true, 'US'],
  UK_NHS: ['NHS number', 'NHS numbers', true, 'GB'],
  UK_NINO: ['national insurance number', 'national insurance numbers', true, 'GB'],
  DE_TAX_ID: ['German tax number', 'German tax numbers', true, 'DE'],
  FR_NIR: ['French social security number', 'French social security numbers', true, 'FR'],
  ES_NIF: ['Spanish identity number', 'Spanish identity numbers', true, 'ES'],
  ES_NIE: ['Spanish foreigner number', 'Spanish foreigner numbers', true, 'ES'],
  IT_FISCAL_CODE: ['Italian tax code', 'Italian tax codes', true, 'IT'],
  NL_BSN: ['Dutch citizen number', 'Dutch citizen numbers', true, 'NL'],
  PL_PESEL: ['Polish identity number', 'Polish identity numbers', true, 'PL'],
  BR_CPF: ['Brazilian taxpayer number', 'Brazilian taxpayer numbers', true, 'BR'],
  BR_CNPJ: ['Brazilian company number', 'Brazilian company numbers', true, 'BR'],
  CA_SIN: ['social insurance number', 'social insurance numbers', true, 'CA'],
  AU_TFN: ['Australian tax file number', 'Australian tax file numbers', true, 'AU'],
  AU_MEDICARE: ['Australian Medicare number', 'Australian Medicare numbers', true, 'AU'],
  IN_AADHAAR: ['Aadhaar number', 'Aadhaar numbers', true, 'IN'],
  IN_PAN: ['Indian tax number', 'Indian tax numbers', true, 'IN'],
  CN_RESIDENT_ID: ['Chinese identity number', 'Chinese identity numbers', true, 'CN'],
  JP_MY_NUMBER: ['My Number', 'My Numbers', true, 'JP'],
  KR_RRN: ['Korean resident number', 'Korean resident numbers', true, 'KR'],
  SG_NRIC_FIN: ['Singaporean identity number', 'Singaporean identity numbers', true, 'SG'],
  MEDICAL_RECORD: ['medical record number', 'medical record numbers', true],
  CRYPTO: ['crypto wallet', 'crypto wallets', true],
  PRIVATE_KEY: ['private key', 'private keys', true],
  API_KEY: ['API key', 'API keys', true],
  SECRET: ['secret', 'secrets', true],
  URL_CREDENTIALS: ['login in a URL', 'logins in URLs', true],
  EMAIL_ADDRESS: ['email address', 'email addresses', true],
  IP_ADDRESS: ['IP address', 'IP addresses', true],
  MAC_ADDRESS: ['MAC address', 'MAC addresses', true],
  DATE_OF_BIRTH: ['date of birth', 'dates of birth', true],
  PHONE_NUMBER: ['phone number', 'phone numbers', true],
  DOMAIN_NAME: ['web address', 'web addresses', false],
  AGE: ['age', 'ages', false],
  ZIP_CODE: ['postal code', 'postal codes', false],
  STREET_ADDRESS: ['street address', 'street addresses', false],
  PERSON: ['name of a person', 'names of persons', false],
  LOCATION: ['place name', 'place names', false],
} as const satisfies Record<string, EntityRow>;

export type KnownEntity = keyof typeof entities;

/** A built-in kind of personal data, or the name of a user-defined pattern. */
export type Entity = string;

export const entityNames: readonly KnownEntity[] = Object.keys(entities).filter(isEntity);

export const defaultEntities: readonly KnownEntity[] = entityNames.filter((name) => entities[name][2]);

export function isEntity(name: string): name is KnownEntity {
  return Object.hasOwn(entities, name);
}

/** ISO 3166; undefined for a kind of no country. */
export function regionOf(entity: KnownEntity): string | undefined {
  return entities[entity][3];
}

export type Counts = Partial<Record<Entity, number>>;

export function describeCounts(counts: Counts): string {
  const own = Object.keys(counts).filter((name) => !isEntity(name));
  const parts = [...entityNames, ...own].flatMap((name) => {
    const count = counts[name] ?? 0;
    if (count === 0) return [];
    return [`${count} ${isEntity(name) ? entities[name][count === 1 ? 0 : 1] : name}`];
  });
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(parts);
}
