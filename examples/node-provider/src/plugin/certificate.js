'use strict';
// A self-signed certificate for localhost. Node can sign and can read certificates, but makes none, so the hundred
// bytes around the key are put together here, in DER.

const { generateKeyPairSync, randomBytes, sign } = require('node:crypto');

const der = (tag, ...parts) => {
  const body = Buffer.concat(parts);
  const length = body.length < 0x80 ? [body.length] : body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts) => der(0x30, ...parts);
const octets = (...parts) => der(0x04, ...parts);
const bits = (unused, bytes) => der(0x03, Buffer.from([unused]), bytes);
const oid = (hex) => der(0x06, Buffer.from(hex, 'hex'));
const text = (tag, string) => der(tag, Buffer.from(string, 'ascii'));
const truth = der(0x01, Buffer.from([0xff]));

const ecdsaWithSHA256 = oid('2a8648ce3d040302');
const commonName = oid('550403');
const serverAuth = oid('2b06010505070301');
const clientAuth = oid('2b06010505070302');
const extension = {
  subjectAltName: oid('551d11'),
  basicConstraints: oid('551d13'),
  keyUsage: oid('551d0f'),
  extKeyUsage: oid('551d25'),
};

// Years before 2050 have two digits, later ones four.
function time(date) {
  const digits = date.toISOString().replace(/[-:T]|\..*$/g, '') + 'Z';
  return date.getUTCFullYear() < 2050 ? text(0x17, digits.slice(2)) : text(0x18, digits);
}

function serial() {
  const number = randomBytes(16);
  number[0] = (number[0] & 0x7f) | 0x40; // positive, and without a leading zero
  return der(0x02, number);
}

/**
 * selfSigned makes a certificate and its key: der for the handshake, cert and key in PEM for TLS. It serves both
 * directions, as the server of the provider's calls and the client of the kernel's callbacks.
 */
function selfSigned(now = new Date()) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(commonName, text(0x0c, 'localhost'))));
  const from = new Date(now.getTime() - 60_000);
  const until = new Date(from);
  until.setUTCFullYear(until.getUTCFullYear() + 10);
  const extensions = sequence(
    sequence(extension.subjectAltName, octets(sequence(text(0x82, 'localhost')))),
    sequence(extension.basicConstraints, truth, octets(sequence(truth))), // an authority: it is checked against itself
    sequence(extension.keyUsage, truth, octets(bits(2, Buffer.from([0x84])))), // digitalSignature, keyCertSign
    sequence(extension.extKeyUsage, octets(sequence(serverAuth, clientAuth))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    serial(), sequence(ecdsaWithSHA256),
    name, sequence(time(from), time(until)), name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const whole = sequence(body, sequence(ecdsaWithSHA256), bits(0, sign('sha256', body, privateKey)));
  return {
    der: whole,
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

module.exports = { selfSigned };
