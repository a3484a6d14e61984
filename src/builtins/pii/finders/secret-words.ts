import { tellingWords } from './context.ts';

/** What passwords are called, for certain; a sentence does not put a colon behind these but in front of one. */
export const passwordNames =
  'pass ?words?|passwd|passphrase|passcode|pwd|pswd|*passwort|*passworter|*kennwort|losungswort|zugangscode|contrasenas?|clave de acceso|mots? de passe|mdp|' +
  'phrase (?:secrete|de passe)|senha|wachtwoord|losenord|hasło|haslo|пароль|пароля|密码|密碼|口令|パスワード|パスフレーズ|合言葉|비밀번호|암호|पासवर्ड|कूटशब्द|गुप्त शब्द';
/** What is also called so that is none. */
export const looseNames =
  "pw|psw|(?:la|mi|tu) contra|clave|code (?:secret|wifi|d['’]acces|confidentiel)|codigo (?:secreto|de acceso)|暗号|सीक्रेट कोड|गुप्त कोड";
/** What means so only where a value is assigned to it. */
export const assignedNames = 'pass|パス';
export const keyNames =
  'secret|token|api key|access key|secret key|auth key|client secret|credential|signature|accountkey|sharedaccesskey';
/** Whose values are several words. */
export const phraseNames =
  'passphrase|losungswort|phrase (?:secrete|de passe)|clave de acceso|合言葉|パスフレーズ|कूटशब्द|गुप्त शब्द';
/** What holds a password beside a name. */
export const accessNames =
  'credentials|login|logins|zugangsdaten|anmeldedaten|logindaten|identifiants|credenciales|datos de acceso|ログイン情報|ログイン|账密|登录信息|लॉगिन';
/** What is typed in digits. */
export const pinNames =
  'pin|pins|pin (?:code|number|nummer|no|nr)|(?:m|upi |atm )pin|passcode|otp|one-time (?:code|passcode|pin)|*geheimzahl|*geheimnummer|*geheimcode|' +
  "code (?:pin|secret|confidentiel|d['’]acces|d['’]entree|de (?:la |ma |ta |sa )?(?:carte|porte|alarme))|digicode|nip|(?<!palabras? )clave|codigo (?:pin|secreto|de acceso)|(?:numero|clave) secret[oa]|" +
  'pin ?码|pin ?碼|验证码|驗證碼|暗証番号|暗証|認証コード|ワンタイムパスワード|pin ?コード|pin ?番号|(?:यूपीआई|एटीएम|कार्ड|upi|atm) पिन|पिन|पिन (?:नंबर|नम्बर|कोड)|ओटीपी|गुप्त कोड|सीक्रेट कोड|인증번호|핀번호';

/** Verbs and particles that give a name its value, or a value its name. */
const links =
  "is|it['’]s|that['’]s|was|as|are|remains|to|be|=|ist|war|lautet|heißt|als|auf|bleibt|est|etait|comme|en|c['’]est|es|era|como|a|por|e|foi|" +
  '是|为|為|作为|作為|当|當|做|就是|改成|改为|设为|设置为|は|が|を|も|で|って|だった|है|था|को|यही|hai|은|는|이|가';
/** Words of closed classes that stand around them. */
const around =
  'the|my|your|his|her|our|their|this|that|new|still|now|just|also|for|of|das|mein|dein|sein|unser|ihr|neues?|jetzt|noch|immer|nun|le|la|mon|ton|son|ma|notre|votre|nouveau|toujours|always|siempre|' +
  'el|mi|tu|su|nuestra|nueva|nuevo|una?|ein|eine|une|同じ|私の|この|その|的|我的|这个|मेरा|मेरी|अपना|अपनी|नया|ही|इसका|उसका|वही|यह|ye|mera|हमेशा|いつも|ずっと|一直|总是';
const little = `[ \\t'’"“”„«»「」『』(:：>→,=#-]|${tellingWords(`${links}|${around}`).source}`;

/** What the name is for: "of the card", "del cajero". */
const owner =
  '(?<!\\p{L})(?:of|for|to|on|de|del|du|des|der|vom|von|fur|furs|zu[mr])(?: (?:the|my|la|le|las|los|el|mi|ma|mon|die|das|den|dem|der|meine?[mnr]?))? \\p{L}{2,15}(?!\\p{L})';
/** What may stand between a name and its value: little words, and what the name is for ("of the card"). */
export const betweenNameAndValue = `(?:${little}){0,8}|(?:${little}){0,3}(?:${owner} ?){1,2}(?:${little}){0,4}?(?:[:=]|${tellingWords(links).source})(?:${little}){0,4}`;
/** Between a value and the name behind it: at least one verb or particle, and nothing but little words. */
export const link = tellingWords(links);
export const linkedBehind = (nameWords: string) =>
  new RegExp(
    `^(?:${little}){0,4}?${tellingWords(links).source}(?:${little}){0,5}${tellingWords(nameWords).source}`,
    'iu',
  );
