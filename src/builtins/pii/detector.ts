import type { CountryCode } from 'libphonenumber-js/max';
import { type Entity, type KnownEntity, regionOf } from './entity.ts';
import { findAges } from './finders/age.ts';
import { findApiKeys } from './finders/api-key.ts';
import { findBirthDates } from './finders/birth-date.ts';
import { findCards } from './finders/card.ts';
import { findWallets } from './finders/crypto.ts';
import { findDomains } from './finders/domain.ts';
import { findEmails } from './finders/email.ts';
import { findIbans } from './finders/iban.ts';
import { findIpAddresses } from './finders/ip.ts';
import { findLocations } from './finders/location.ts';
import { findMacAddresses } from './finders/mac.ts';
import { findMedicalRecords } from './finders/medical-record.ts';
import { createIdFinder, type IdEntity, idFormats } from './finders/national-ids.ts';
import { findPersons } from './finders/person.ts';
import { createPhoneFinder } from './finders/phone.ts';
import { findPrivateKeys } from './finders/private-key.ts';
import { findSecrets } from './finders/secret.ts';
import { findSsns } from './finders/ssn.ts';
import { findStreets } from './finders/street.ts';
import { findUrlCredentials } from './finders/url-credentials.ts';
import { findZipCodes } from './finders/zip-code.ts';
import type { Finder, Finding } from './finding.ts';
import { fold, separateControls, separateScripts } from './fold.ts';
import { resolveOverlaps } from './overlap.ts';
import { createOwnFinder, type OwnPattern } from './own-pattern.ts';
import { createScannedText } from './scanned-text.ts';

/** Finds the personal data in a text; findings do not overlap and come in the order of the text. */
export type Detector = (text: string) => readonly Finding[];

export interface DetectorOptions {
  readonly entities: readonly Entity[];
  /** Whose numbering plans hold for phone numbers without a country code. */
  readonly regions: readonly CountryCode[];
  /** Kinds of a user's own; looked for whatever `entities` names. */
  readonly patterns?: readonly OwnPattern[] | undefined;
  /** Whether this text is on the list of allowed values. */
  readonly isAllowed: (text: string) => boolean;
}

/** Throws Error for a pattern that cannot be compiled. */
export function createDetector({ entities, regions, patterns = [], isAllowed }: DetectorOptions): Detector {
  const finders = [
    ...patterns.map(createOwnFinder),
    ...[...new Set(entities)].map((entity) => finderOf(entity, regions)),
  ];
  const findIn = (text: string) => {
    const folded = separateScripts(fold(text));
    const scan = createScannedText(folded);
    const found = finders.flatMap((finder) => [...finder(scan)]);
    return resolveOverlaps(found, folded.text).map((finding) => unfold(finding, folded.toOriginal));
  };
  return (text) => {
    const separated = separateControls(text);
    const found = findIn(text);
    const all = separated === text ? found : resolveOverlaps([...found, ...findIn(separated)], text);
    return all.filter(({ start, end }) => !isAllowed(text.slice(start, end)));
  };
}

function unfold(finding: Finding, toOriginal: (at: number) => number): Finding {
  return { ...finding, start: toOriginal(finding.start), end: toOriginal(finding.end) };
}

function finderOf(entity: Entity, regions: readonly CountryCode[]): Finder {
  if (entity === 'PHONE_NUMBER') return createPhoneFinder(regions);
  if (isIdEntity(entity))
    return createIdFinder(
      entity,
      regions.some((region) => region === regionOf(entity)),
    );
  return isFoundAlike(entity) ? finders[entity] : () => [];
}

function isFoundAlike(entity: Entity): entity is keyof typeof finders {
  return Object.hasOwn(finders, entity);
}

function isIdEntity(entity: Entity): entity is IdEntity {
  return Object.hasOwn(idFormats, entity);
}

const finders: Readonly<Record<Exclude<KnownEntity, 'PHONE_NUMBER' | IdEntity>, Finder>> = {
  CREDIT_CARD: findCards,
  IBAN_CODE: findIbans,
  US_SSN: findSsns,
  MEDICAL_RECORD: findMedicalRecords,
  CRYPTO: findWallets,
  PRIVATE_KEY: findPrivateKeys,
  API_KEY: findApiKeys,
  SECRET: findSecrets,
  URL_CREDENTIALS: findUrlCredentials,
  EMAIL_ADDRESS: findEmails,
  IP_ADDRESS: findIpAddresses,
  MAC_ADDRESS: findMacAddresses,
  DATE_OF_BIRTH: findBirthDates,
  DOMAIN_NAME: findDomains,
  AGE: findAges,
  ZIP_CODE: findZipCodes,
  STREET_ADDRESS: findStreets,
  PERSON: findPersons,
  LOCATION: findLocations,
};
