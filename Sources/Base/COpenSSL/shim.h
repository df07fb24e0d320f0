// libcrypto as the JOSE module sees it, and the one call of the system's for keys in memory. Only what the importer cannot
// see by itself (macros, variadic functions, callbacks that must be C) is wrapped here; everything else is called directly.
#ifndef REMINT_COPENSSL_SHIM_H
#define REMINT_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <sys/prctl.h>

/// What a PEM reader may answer with when the key is encrypted. `given` is set when the text asked for one,
/// so that "needs a passphrase" and "wrong passphrase" can be told apart.
typedef struct {
    const unsigned char *bytes;
    size_t count;
    int asked;
} remint_passphrase;

/// The passphrase callback: never prompts a terminal (libcrypto's default does), copies at most `size` bytes.
static inline int remint_passphrase_callback(char *buffer, int size, int writing, void *context) {
    (void)writing;
    remint_passphrase *passphrase = (remint_passphrase *)context;
    passphrase->asked = 1;
    if (passphrase->bytes == NULL || passphrase->count > (size_t)size) return -1;
    for (size_t i = 0; i < passphrase->count; i++) buffer[i] = (char)passphrase->bytes[i];
    return (int)passphrase->count;
}

static inline EVP_PKEY *remint_read_private_key(BIO *bio, remint_passphrase *passphrase) {
    return PEM_read_bio_PrivateKey(bio, NULL, remint_passphrase_callback, passphrase);
}

/// A public key has no passphrase; without a callback libcrypto would prompt the terminal for a private key's.
static inline int remint_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static inline EVP_PKEY *remint_read_public_key(BIO *bio) {
    return PEM_read_bio_PUBKEY(bio, NULL, remint_no_passphrase, NULL);
}

static inline X509 *remint_read_certificate(BIO *bio) {
    return PEM_read_bio_X509(bio, NULL, remint_no_passphrase, NULL);
}

/// Whether the last PEM read failed because nothing was left to read, and not because what was left is broken.
static inline int remint_is_end_of_pem(void) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

/// Whether an error since the last clearing says that libcrypto does not offer the cipher of a key. Empties the queue.
static inline int remint_lacks_cipher(void) {
    int lacks = 0;
    for (unsigned long error; (error = ERR_get_error()) != 0;) {
        int library = ERR_GET_LIB(error), reason = ERR_GET_REASON(error);
        lacks |= library == ERR_LIB_EVP
                 && (reason == ERR_R_UNSUPPORTED || reason == EVP_R_UNSUPPORTED_ALGORITHM
                     || reason == EVP_R_UNKNOWN_PBE_ALGORITHM || reason == EVP_R_UNSUPPORTED_CIPHER);
        lacks |= library == ERR_LIB_PEM
                 && (reason == PEM_R_UNSUPPORTED_ENCRYPTION || reason == PEM_R_UNSUPPORTED_CIPHER);
    }
    return lacks;
}

static inline EVP_PKEY *remint_generate_rsa(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *remint_generate_ec(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *remint_generate_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

/// Which members `EVP_PKEY_fromdata` takes; the constants are compound macros.
static inline int remint_keypair(void) { return EVP_PKEY_KEYPAIR; }
static inline int remint_public_key(void) { return EVP_PKEY_PUBLIC_KEY; }

/// Prepares `context` to make HMACs with `key` and the digest of that name. The parameter keeps a pointer to its name until the
/// call has ended: a literal of C's lives as long, a Swift string that is lent to the function which makes the parameter does not.
static inline int remint_hmac_init(EVP_MAC_CTX *context, const unsigned char *key, size_t count, const char *digest) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(context, key, count, parameters);
}

/// `BIO_get_mem_data` is a macro. The bytes belong to the BIO.
static inline long remint_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

/// Nobody but root may trace this process, read its memory or have its core dumped from here on (prctl(2), PR_SET_DUMPABLE);
/// `prctl` is variadic. Returns whether the system did it.
static inline int remint_forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) == 0; }

#endif
