/// Keys made once for these tests, used nowhere else.
enum SamplePEM {
    /// An RSA key of 1024 bits, PKCS#8.
    static let shortRSA = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAOdyXxKo+D3Anr4W
        IrW8wU0nW/TGfQKQ2M/IGJ7C8LpZCZF9vL6cYW7vrO51YtkciLyePEOF7MdN4oyH
        C9QyOhJFyF7EjPSZbu8KBq8NMDnguXUZvCHo2Jn9I09G/FypGNjWBJUPK5ccz9bF
        2Ps94Ymo9Bd231qS0aZbINJ7tNsHAgMBAAECgYEA3zt+HbZh8NXXhoo9IkMTwoHi
        /L1xl8bzh718max2mZYFV5IKOWMFywVbK4iHNdeCv0Jz58DFtxoVF+utahaj0GRh
        mg6T3dlSyQ81oG35Xrha7PdSKmq0maxUrOqzEeEvjxyfsntl3XSU/YAHBDXde9Xj
        TrcIImK4J/kmCMkx86kCQQD35gD33W4YOXkKvYm2eLbGoiG3g+uOhgLMlc3dM5Tr
        NuMbMll9M+4L43KtTfGQuNzdXgEh9ZXSVzCalKQH52fdAkEA7wK6REvpYgiyDbmY
        /Xcgqlz2gn0muHq1J8Vm0NnZLPZZnc/23N6TZKRHE/wfe1BI1FJG32zkMjPC+ZUr
        I3oyMwJBAJQeM3nmLj//JxmJwlzqp5rriOXTxs0zuTxwTb7bcSFRfETlwp6ShqtH
        zV9LcQidzCngXyDhUhGJ0xqpsZCfbWkCQQDIPWbEdTzP7y0NJqMwJy/syvmTlTpt
        cBB5g36CFyFF9BZcirDtlmOx+5e4/I97hmWdzFioMthz3r3Iz9pWXLfVAkATVsEt
        VurOFuZ8LBsv4xHZX5xG0RZKB8xm43PvBISr3dX6fzSE2k0RiC0XepYJ1WRQ7Gfu
        ZBAInymuzTLnElzc
        -----END PRIVATE KEY-----
        """

    /// A P-256 key, SEC1.
    static let p256 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIGl3JvAff+bBK+9i9xjOpJe+isiD83yrwxhvbkMkVD4JoAoGCCqGSM49
        AwEHoUQDQgAEJuuZizgDTZ9phN4uJZFxK4p/e54T41DWFcNqFZjmpihwDH1cZqZS
        FV1sroTikS0xZsYut0tYP80Fut02wwTCFQ==
        -----END EC PRIVATE KEY-----
        """

    /// The same key, PKCS#8, opened by `passphrase`.
    static let encryptedP256 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi1eOYER/bGswICA+gw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEBEr8czCjP6r4Fkx/lJnJU4EgZBA
        VcuDP7fmrHZg5PUPDK3fwwjjTYv/RgHzkKQGcLtiL4t/edifabwroJuZLLv1NtwN
        El7frhrQZDQAz3hD396HbfIUv34zvtACofQSMqhEuNgTGL/vcfiz4+DVUTQXH4Mg
        +8D/kksEaLzwFgXYfwXLFn/8hS6SpkziEBpHCI5lE7zN49qb/rcCNEtj3D9IfCY=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// Its public half.
    static let publicP256 = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJuuZizgDTZ9phN4uJZFxK4p/e54T
        41DWFcNqFZjmpihwDH1cZqZSFV1sroTikS0xZsYut0tYP80Fut02wwTCFQ==
        -----END PUBLIC KEY-----
        """

    static let passphrase = "correct"
}
