package remint;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A reader of JSON (RFC 8259), so that the client needs no library. */
final class Json {
    private static final int DEPTH = 64;
    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Returns the value: a Map, a List, a String, a Number, a Boolean, or null. Returns null for text that is not JSON too. */
    static Object read(String text) {
        try {
            Json reader = new Json(text);
            Object value = reader.value();
            reader.space();
            return reader.at == text.length() ? value : null;
        } catch (IllegalStateException | IndexOutOfBoundsException | NumberFormatException error) {
            return null;
        }
    }

    /** Returns an object's members; an empty map for any other value. */
    static Map<?, ?> members(Object value) {
        return value instanceof Map ? (Map<?, ?>) value : Collections.emptyMap();
    }

    /** Returns a string; null for any other value. */
    static String text(Object value) {
        return value instanceof String ? (String) value : null;
    }

    /** Returns an integer; 0 for any other value. */
    static long number(Object value) {
        return value instanceof Number ? ((Number) value).longValue() : 0;
    }

    private Object value() {
        space();
        if (++depth > DEPTH) throw new IllegalStateException();
        try {
            char first = text.charAt(at);
            if (first == '{') return object();
            if (first == '[') return array();
            if (first == '"') return string();
            if (take("true")) return Boolean.TRUE;
            if (take("false")) return Boolean.FALSE;
            if (take("null")) return null;
            return numeral();
        } finally {
            depth--;
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        space();
        if (take("}")) return members;
        do {
            space();
            String name = string();
            space();
            require(":");
            members.put(name, value());
            space();
        } while (take(","));
        require("}");
        return members;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        at++;
        space();
        if (take("]")) return elements;
        do {
            elements.add(value());
            space();
        } while (take(","));
        require("]");
        return elements;
    }

    private String string() {
        require("\"");
        StringBuilder result = new StringBuilder();
        for (char next = text.charAt(at++); next != '"'; next = text.charAt(at++)) {
            result.append(next == '\\' ? escape() : next);
        }
        return result.toString();
    }

    private char escape() {
        char name = text.charAt(at++);
        int place = "bfnrt".indexOf(name);
        if (place >= 0) return "\b\f\n\r\t".charAt(place);
        if (name != 'u') return name;
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    private Number numeral() {
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
        String numeral = text.substring(start, at);
        if (numeral.matches("-?[0-9]{1,18}")) return Long.valueOf(numeral);
        return Double.valueOf(numeral);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private boolean take(String word) {
        boolean isThere = text.startsWith(word, at);
        if (isThere) at += word.length();
        return isThere;
    }

    private void require(String word) {
        if (!take(word)) throw new IllegalStateException();
    }
}
